"""What the doctor can repair of this app, one module a fix. Source: S1 (doctor --fix), trust R-20 and R-21.

Every fix is idempotent and only ever adds or marks: it deletes no row, activates nothing, and changes no text. None
calls a language model but `reflect_pending`, which runs only when it is named. A vector is a memory's derived value: it
gives way to that of the text that is stored now.
"""
