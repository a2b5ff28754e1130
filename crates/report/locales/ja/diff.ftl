# diff
