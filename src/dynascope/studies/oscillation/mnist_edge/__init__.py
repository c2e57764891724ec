"""Networks of 3 to 5 layers past the edge of stability: is one dimension enough?"""
