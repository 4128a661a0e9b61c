"""The native solver of support vector machines: kernels as tables of values, and binary problems solved on them."""
