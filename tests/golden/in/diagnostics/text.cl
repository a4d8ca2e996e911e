// Columns count characters, tabs stay tabs, and of a long line the part around the caret is shown.
void f(int €)
{
	/* äöü — */ nosuch = €;
	int a0 = 0, a1 = 0, a2 = 0, a3 = 0, a4 = 0, a5 = 0, a6 = 0, a7 = 0, a8 = 0, a9 = 0, b0 = 0, b1 = 0, b2 = unknown_in_the_middle + 0, b3 = 0, b4 = 0, b5 = 0, b6 = 0, b7 = 0, b8 = 0, b9 = 0, c0 = 0, c1 = 0;
}
