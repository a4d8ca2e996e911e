// Components of a packed object are unpacked.
floate2m1_t2 f(floate2m1_t4 v) { return v.hi; }
