"""What is learnt of a column while its values go by, a batch at a time.

Numbers, floats and texts are learnt of differently; what is kept of them is the same.
"""
