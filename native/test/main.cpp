// The program of every test file: runs its tests, or those whose names hold the first argument.
#include "check.hpp"

int main(int count, char** arguments) { return sapwood::test::run_all(count > 1 ? arguments[1] : ""); }
