"""The pages of docs/ that are made from tables and from what the compiler says: `tools/pages NAME` prints one."""
