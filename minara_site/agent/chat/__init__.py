"""`minara chat`: the reference agent, a small loop that uses everything an agent of one's own would use."""
