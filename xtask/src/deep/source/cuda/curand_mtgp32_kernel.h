// clang includes this before anything else; nothing of it is used here.
