"""Each raise of the rate sets off a catapult, and leads to rates that are out of reach at first."""
