// The extension module: one registration function per group of bindings, nothing else.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace sapwood::bind {

void register_attach(nb::module_& module);
void register_columns(nb::module_& module);
void register_decode(nb::module_& module);
void register_edit(nb::module_& module);
void register_exits(nb::module_& module);
void register_grammar(nb::module_& module);
void register_explain(nb::module_& module);
void register_kernels(nb::module_& module);
void register_places(nb::module_& module);
void register_preferences(nb::module_& module);
void register_recursive(nb::module_& module);
void register_parse(nb::module_& module);
void register_loglinear(nb::module_& module);
void register_search(nb::module_& module);
void register_semantic(nb::module_& module);
void register_smo(nb::module_& module);
void register_spans(nb::module_& module);
void register_trees(nb::module_& module);

}  // namespace sapwood::bind

NB_MODULE(_core, module) {
    module.doc() = "Sapwood's native core. Private: the Python packages check arguments before they call it.";
    // Objects that outlive the interpreter (globals, caches) are Python's business and nothing to alarm a user about.
    nb::set_leak_warnings(false);
    using namespace sapwood::bind;
    register_trees(module);
    // Kernels give sources of rows, which are declared there.
    register_smo(module);
    register_kernels(module);
    register_search(module);
    register_semantic(module);
    register_attach(module);
    register_columns(module);
    register_decode(module);
    register_edit(module);
    register_exits(module);
    register_grammar(module);
    register_explain(module);
    register_places(module);
    register_preferences(module);
    register_recursive(module);
    register_parse(module);
    register_loglinear(module);
    register_spans(module);
}
