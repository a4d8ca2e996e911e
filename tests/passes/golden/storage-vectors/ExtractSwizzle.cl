// Components of a packed value are unpacked.
floate2m1_t4 g(void);
floate2m1_t4 g(void) { return (floate2m1_t4)(1.0f); }
floate2m1_t f(void) { return g().z; }
