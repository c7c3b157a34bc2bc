"""What a section of the doctor's report and a repair are; `<app>/sections.py` and `<app>/fixes.py` list them."""
