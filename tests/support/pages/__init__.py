"""The pages of docs/ that are generated from tables and from the compiler's output: `tools/pages NAME` prints one."""
