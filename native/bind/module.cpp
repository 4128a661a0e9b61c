// The extension module: one registration function per group of bindings, nothing else.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void register_explain(nb::module_& module);
void register_kernels(nb::module_& module);
void register_trees(nb::module_& module);

NB_MODULE(_core, module) {
    module.doc() = "Sapwood's native core. Private: the Python rooms check arguments before they call it.";
    register_trees(module);
    register_kernels(module);
    register_explain(module);
}
