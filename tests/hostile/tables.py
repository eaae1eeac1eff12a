from case import Cases
CASES = Cases("x")
