// Bindings of the arena and the bracket reader.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <unordered_map>

#include "bind/arrays.hpp"
#include "bind/interruptible.hpp"
#include "bind/roots.hpp"
#include "trees/arena.hpp"
#include "trees/brackets.hpp"

namespace sapwood::bind {

namespace {

// Python objects by the names that they have in the stubs; what they hold is checked where it is used.
class Text : public nb::object {
    static bool is_any(PyObject*) { return true; }
    NB_OBJECT_DEFAULT(Text, nb::object, "bytes | str", is_any)
};
class Tree : public nb::object {
    static bool is_any(PyObject*) { return true; }
    NB_OBJECT_DEFAULT(Tree, nb::object, "sapwood.trees.tree.Tree", is_any)
};
using Texts = nb::typed<nb::list, nb::str>;

// The characters of bytes, or of a str of ASCII characters, which are its bytes already. The caller keeps the object
// alive.
std::string_view characters(nb::handle source) {
    if (PyUnicode_Check(source.ptr())) {
        Py_ssize_t size = 0;
        const char* text = PyUnicode_AsUTF8AndSize(source.ptr(), &size);
        if (!text) throw nb::python_error();
        return {text, static_cast<std::size_t>(size)};
    }
    const auto bytes = nb::cast<nb::bytes>(source);
    return {bytes.c_str(), bytes.size()};
}

// In treebanks a distinct subtree comes with some 16 bytes of text at first, and with more and more later.
void make_room(Arena& arena, std::size_t bytes) { arena.reserve(std::min(bytes / 16, 65536 + bytes / 40)); }

// Throws what is wrong with the bytes of a text, if anything is.
void check_bytes(std::string_view text) {
    const std::size_t invalid = first_invalid_byte(text);
    if (invalid == text.size()) return;
    throw BracketFault{invalid, text[invalid] == '\0'
                                    ? "a NUL byte; this is not bracketed text"
                                    : "a byte that is not valid UTF-8; save the file as UTF-8 or pass encoding="};
}

// Bytes of text that are read before anybody could press Ctrl-C.
constexpr std::size_t kBriefText = 1 << 20;

// Reads every tree of a text. On a fault: the byte offset and reason instead, and the arena may hold a part of it.
auto read_text(Arena& arena, Text source, bool drop_traces, bool drop_function_tags, bool collapse_unary, bool unescape,
               bool bare_tokens) {
    const std::string_view text = characters(source);
    std::vector<Node> roots;
    std::size_t offset = 0;
    std::string reason;
    run_interruptible(text.size() < kBriefText, nb::none(), [&](Control& control) {
        try {
            check_bytes(text);
            make_room(arena, text.size());
            BracketReader reader(text, {drop_traces, drop_function_tags, collapse_unary, unescape, bare_tokens});
            for (Node root; reader.next(arena, root);) {
                roots.push_back(root);
                if (roots.size() % 4096 == 0) control.check();
            }
        } catch (BracketFault& fault) {
            offset = fault.offset;
            reason = std::move(fault.reason);
        }
    });
    return std::make_tuple(to_numpy(std::move(roots)), offset, reason);
}

// Reads texts that hold one tree or bare token each. Returns the roots, as many as there are texts if all is well.
// Otherwise the text after the last root is at fault: at a byte offset and for some reason, or, with no reason, because
// it holds another number of trees, which is what stands for the offset then.
auto read_texts(Arena& arena, nb::typed<nb::list, Text> sources) {
    // Other threads may change the list meanwhile.
    const nb::tuple held(sources);
    std::vector<std::string_view> texts;
    texts.reserve(held.size());
    std::size_t bytes = 0;
    for (nb::handle source : held) {
        texts.push_back(characters(source));
        bytes += texts.back().size();
    }
    std::vector<Node> roots;
    roots.reserve(texts.size());
    std::size_t offset = 0;
    std::string reason;
    run_interruptible(bytes < kBriefText, nb::none(), [&](Control& control) {
        make_room(arena, bytes);
        BracketOptions options;
        options.bare_tokens = true;
        BracketReader reader({}, options);
        try {
            for (const std::string_view text : texts) {
                check_bytes(text);
                reader.begin(text);
                std::size_t count = 0;
                Node root = kNone;
                for (Node next; reader.next(arena, next); ++count) root = next;
                if (count != 1) {
                    offset = count;
                    break;
                }
                roots.push_back(root);
                if (roots.size() % 4096 == 0) control.check();
            }
        } catch (BracketFault& fault) {
            offset = fault.offset;
            reason = std::move(fault.reason);
        }
    });
    return std::make_tuple(to_numpy(std::move(roots)), offset, reason);
}

// Adds Python Tree objects (anything with .label and a tuple .children); shared objects are visited once.
auto add_objects(Arena& arena, nb::typed<nb::list, Tree> trees) {
    struct Frame {
        nb::handle object;
        nb::tuple children;
        std::size_t next;
        std::size_t first;
    };
    std::unordered_map<PyObject*, Node> known;
    std::vector<Frame> stack;
    std::vector<Node> pending, roots;
    const auto label_of = [&](nb::handle object) {
        const nb::str label = nb::cast<nb::str>(object.attr("label"));
        Py_ssize_t size = 0;
        const char* text = PyUnicode_AsUTF8AndSize(label.ptr(), &size);
        if (!text) throw nb::python_error();
        return arena.symbols.intern({text, static_cast<std::size_t>(size)});
    };
    for (nb::handle tree : trees) {
        const auto enter = [&](nb::handle object) {
            if (const auto found = known.find(object.ptr()); found != known.end()) {
                pending.push_back(found->second);
                return;
            }
            stack.push_back({object, nb::cast<nb::tuple>(object.attr("children")), 0, pending.size()});
        };
        enter(tree);
        while (!stack.empty()) {
            Frame& frame = stack.back();
            if (frame.next < frame.children.size()) {
                const nb::handle child = frame.children[frame.next++];
                enter(child);
                continue;
            }
            const Symbol label = label_of(frame.object);
            const Node node = arena.node(label, std::span<const Node>(pending).subspan(frame.first));
            pending.resize(frame.first);
            pending.push_back(node);
            known.emplace(frame.object.ptr(), node);
            stack.pop_back();
        }
        roots.push_back(pending.back());
        pending.clear();
    }
    return to_numpy(std::move(roots));
}

// Python Tree objects; equal subtrees are one object. The class has the slots _label and _children and no others that
// must be set. Going through its constructor would cost several times as much.
nb::typed<nb::list, Tree> make_objects(const Arena& arena, Numbers root_array, nb::typed<nb::type_object, Tree> kind) {
    const auto roots = view(root_array);
    check_roots(arena, roots);
    const std::vector<Node> nodes = reachable(arena, roots);
    NumberMap position(arena.size(), nodes.size()), symbol_position(arena.symbols.size(), nodes.size());
    const nb::str label_slot("_label"), children_slot("_children");
    std::vector<nb::object> built, texts;
    built.reserve(nodes.size());
    for (const Node node : nodes) {
        const Symbol symbol = arena.label(node);
        if (symbol_position.at(symbol) == kNone) {
            const std::string_view text = arena.symbols.text(symbol);
            symbol_position.set(symbol, static_cast<std::uint32_t>(texts.size()));
            texts.push_back(nb::str(text.data(), text.size()));
        }
        const auto kids = arena.children(node);
        nb::object children = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(kids.size())));
        if (!children.is_valid()) throw nb::python_error();
        for (std::size_t k = 0; k < kids.size(); ++k) {
            nb::object child = built[position.at(kids[k])];
            PyTuple_SetItem(children.ptr(), static_cast<Py_ssize_t>(k), child.release().ptr());
        }
        nb::object tree = nb::steal(PyType_GenericAlloc(reinterpret_cast<PyTypeObject*>(kind.ptr()), 0));
        if (!tree.is_valid() ||
            PyObject_GenericSetAttr(tree.ptr(), label_slot.ptr(), texts[symbol_position.at(symbol)].ptr()) != 0 ||
            PyObject_GenericSetAttr(tree.ptr(), children_slot.ptr(), children.ptr()) != 0)
            throw nb::python_error();
        position.set(node, static_cast<std::uint32_t>(built.size()));
        built.push_back(std::move(tree));
    }
    nb::list result;
    for (const Node root : roots) result.append(built[position.at(root)]);
    return result;
}

// What is needed to rebuild the trees elsewhere: labels, and per node (children first) its label and child positions.
auto dump(const Arena& arena, Numbers root_array) {
    const auto roots = view(root_array);
    check_roots(arena, roots);
    const std::vector<Node> nodes = reachable(arena, roots);
    NumberMap position(arena.size(), nodes.size()), symbol_position(arena.symbols.size(), nodes.size());
    std::vector<std::uint32_t> labels, children, new_roots;
    std::vector<std::uint64_t> child_ends;
    std::vector<std::string_view> texts;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        position.set(nodes[i], static_cast<std::uint32_t>(i));
        std::uint32_t symbol = symbol_position.at(arena.label(nodes[i]));
        if (symbol == kNone) {
            symbol = static_cast<std::uint32_t>(texts.size());
            symbol_position.set(arena.label(nodes[i]), symbol);
            texts.push_back(arena.symbols.text(arena.label(nodes[i])));
        }
        labels.push_back(symbol);
        for (const Node child : arena.children(nodes[i])) children.push_back(position.at(child));
        child_ends.push_back(children.size());
    }
    for (const Node root : roots) new_roots.push_back(position.at(root));
    return std::make_tuple(texts, to_numpy(std::move(labels)), to_numpy(std::move(child_ends)),
                           to_numpy(std::move(children)), to_numpy(std::move(new_roots)));
}

// The labels of the leaves under every root, from left to right: distinct texts, the numbers of those, and where the
// leaves of each root end.
auto leaves(const Arena& arena, Numbers root_array) {
    const auto roots = view(root_array);
    check_roots(arena, roots);
    NumberMap position(arena.symbols.size(), roots.size() * 32);
    std::vector<Symbol> symbols;
    std::vector<std::uint32_t> numbers;
    std::vector<std::uint64_t> ends;
    std::vector<Node> stack;
    for (const Node root : roots) {
        stack.push_back(root);
        while (!stack.empty()) {
            const Node node = stack.back();
            stack.pop_back();
            const auto kids = arena.children(node);
            stack.insert(stack.end(), kids.rbegin(), kids.rend());
            if (!kids.empty()) continue;
            const Symbol symbol = arena.label(node);
            if (position.at(symbol) == kNone) {
                position.set(symbol, static_cast<std::uint32_t>(symbols.size()));
                symbols.push_back(symbol);
            }
            numbers.push_back(position.at(symbol));
        }
        ends.push_back(numbers.size());
    }
    std::vector<std::string_view> texts;
    for (const Symbol symbol : symbols) texts.push_back(arena.symbols.text(symbol));
    return std::make_tuple(texts, to_numpy(std::move(numbers)), to_numpy(std::move(ends)));
}

// Subtrees from arrays such as dump gives, and the numbers that they have in the new arena; labels and subtrees may be
// listed more than once. The arrays may come from a file, so everything is checked.
std::vector<std::uint32_t> build(Arena& arena, Texts texts, Numbers label_array, Offsets end_array,
                                 Numbers child_array) {
    std::vector<Symbol> symbols;
    for (nb::handle text : texts) {
        Py_ssize_t size = 0;
        const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
        if (!bytes) throw nb::python_error();
        symbols.push_back(arena.symbols.intern({bytes, static_cast<std::size_t>(size)}));
    }
    const auto labels = view(label_array);
    const auto ends = view(end_array);
    const auto children = view(child_array);
    if (ends.size() != labels.size()) throw nb::value_error("labels and child ends differ in length");
    std::vector<std::uint32_t> numbers;
    std::vector<Node> kids;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (labels[i] >= symbols.size()) throw nb::value_error("a label number is out of range");
        if (ends[i] < begin || ends[i] > children.size()) throw nb::value_error("child ends are out of order");
        kids.clear();
        for (const Node child : children.subspan(begin, ends[i] - begin)) {
            if (child >= i) throw nb::value_error("a child does not come before its parent");
            kids.push_back(numbers[child]);
        }
        numbers.push_back(arena.node(symbols[labels[i]], kids));
        begin = ends[i];
    }
    if (begin != children.size()) throw nb::value_error("children are left over");
    return numbers;
}

// The inverse of dump.
Arena load(Texts texts, Numbers label_array, Offsets end_array, Numbers child_array) {
    Arena arena;
    const std::vector<std::uint32_t> numbers = build(arena, texts, label_array, end_array, child_array);
    if (arena.symbols.size() != texts.size()) throw nb::value_error("a label is listed twice");
    if (arena.size() != numbers.size()) throw nb::value_error("a subtree is listed twice");
    return arena;
}

Texts write_lines(const Arena& arena, Numbers root_array) {
    const auto roots = view(root_array);
    check_roots(arena, roots);
    nb::list lines;
    std::string line;
    for (const Node root : roots) {
        line.clear();
        write_brackets(arena, root, line);
        lines.append(nb::str(line.data(), line.size()));
    }
    return lines;
}

// The labels that brackets cannot express, among those in use under the roots.
std::vector<std::string_view> unwritable(const Arena& arena, Numbers root_array) {
    const auto roots = view(root_array);
    check_roots(arena, roots);
    std::vector<std::string_view> labels;
    for (const Node node : reachable(arena, roots)) {
        const std::string_view text = arena.symbols.text(arena.label(node));
        if (!is_writable(text)) labels.push_back(text);
    }
    return labels;
}

// An arena to which something can be added.
Arena& unplaced(Arena& arena) {
    if (arena.is_placed()) throw nb::value_error("this arena lies in memory of others; copy it first");
    return arena;
}

// Of an arena that is sorted, which then has no tables where it is placed.
Parts arena_parts(nb::handle_t<Arena> self) {
    Arena& arena = nb::cast<Arena&>(self);
    if (arena.is_placed()) return parts_of(arena, self);
    nb::object copy = nb::cast(Arena(arena));
    Arena& sorted = nb::cast<Arena&>(copy);
    sorted.sort();
    return parts_of(sorted, copy);
}

Arena placed_arena(const GivenArrays& arrays, const std::vector<std::uint64_t>& numbers) {
    return from_parts(arrays, numbers, [](Placing& placing) {
        Arena arena;
        arena.parts(placing);
        if (!placing.done() || !arena.is_consistent()) throw nb::value_error("these are no parts of an arena");
        return arena;
    });
}

}  // namespace

void register_trees(nb::module_& parent) {
    nb::module_ module = parent.def_submodule("trees", "Hash-consed trees and the bracket reader.");
    module.def(
        "whole_trees",
        [](nb::bytes text, std::size_t from, std::ptrdiff_t depth) {
            if (from > text.size()) throw nb::index_error("offset outside the text");
            const WholeTrees found = whole_trees({text.c_str(), text.size()}, from, depth);
            return std::make_tuple(found.end, found.depth);
        },
        nb::arg("text"), nb::arg("start"), nb::arg("depth"));
    nb::class_<Arena>(module, "Arena")
        .def(nb::init<>())
        .def("__len__", &Arena::size)
        .def_prop_ro("labels", [](const Arena& arena) { return arena.symbols.size(); })
        .def_prop_ro("productions", &Arena::production_count)
        .def_prop_ro("nbytes", &Arena::bytes)
        .def("parts", &arena_parts)
        .def_static("placed", &placed_arena, nb::arg("arrays"), nb::arg("numbers"), nb::keep_alive<0, 1>())
        .def("read", &read_text, nb::arg("text"), nb::arg("drop_traces"), nb::arg("drop_function_tags"),
             nb::arg("collapse_unary"), nb::arg("unescape"), nb::arg("bare_tokens"))
        .def("read_each", &read_texts, nb::arg("texts"))
        .def("objects", &make_objects, nb::arg("roots").noconvert(), nb::arg("kind"))
        .def("add", &add_objects, nb::arg("trees"))
        .def("leaves", &leaves, nb::arg("roots").noconvert())
        .def("dump", &dump, nb::arg("roots").noconvert())
        .def_static("load", &load, nb::arg("labels"), nb::arg("node_labels").noconvert(),
                    nb::arg("child_ends").noconvert(), nb::arg("children").noconvert())
        .def(
            "build",
            [](Arena& arena, Texts texts, Numbers labels, Offsets ends, Numbers children) {
                return to_numpy(build(unplaced(arena), texts, labels, ends, children));
            },
            nb::arg("labels"), nb::arg("node_labels").noconvert(), nb::arg("child_ends").noconvert(),
            nb::arg("children").noconvert())
        .def(
            "transplant",
            [](Arena& arena, const Arena& from, Numbers roots) {
                check_roots(from, view(roots));
                return to_numpy(transplant(from, view(roots), unplaced(arena)));
            },
            nb::arg("source"), nb::arg("roots").noconvert())
        .def("copy", [](const Arena& arena) { return arena.is_placed() ? arena.with_tables() : Arena(arena); })
        .def("write", &write_lines, nb::arg("roots").noconvert())
        .def("unwritable", &unwritable, nb::arg("roots").noconvert());
}

}  // namespace sapwood::bind
