"""What a key may only ask for, until its owner decides. It knows no room: a facet of each kind shows it and does it."""
