// Every implicit conversion is a node: promotion, usual conversions, assignment, argument, return.
float half_of(float x) { return x / 2; }
long f(char c, uchar u, int i, double d)
{
    i = c + u;
    c = i * d;
    bool b = i;
    d = half_of(b);
    return u < c;
}
