// The rival: tree kernels evaluated pair by pair, as well as that can be done.
//
// This is the method of the tools in use, written to be fast and sharing no code with the library: every tree keeps its
// nodes sorted by production (subtree and subset-tree kernels) or by label (partial-tree kernel), two trees are compared
// by merging those lists, and the recursion runs over the matching pairs only. A node has one parent and one place under
// it, so a pair of nodes is needed by at most one other pair: starting from the pairs that no other pair will ask for,
// each one is evaluated once, and no table has to be filled or cleared.
//
//     rival TREES [--kernels sst,st,ptk] [--decay 0.4] [--depth-decay 0.4] [--repeat 3] [--out PREFIX]
//
// prints per kernel its name, the number of evaluations and the CPU seconds of the best repetition; reading and sorting
// are not counted. PREFIX.sst and so on receive the upper triangle of the Gram matrix, row by row, as raw doubles.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace {

using Id = std::uint32_t;
constexpr Id kNobody = std::numeric_limits<Id>::max();

struct Parameters {
    double decay = 0.4, depth_decay = 0.4;
};

// A tree as it is read: children before parents.
struct Node {
    Id label, production;  // production is kNobody for a leaf
    Id parent, slot;       // kNobody at the root
    std::vector<Id> kids;
    bool flat;             // all children are leaves
};
using Tree = std::vector<Node>;

class Reader {
  public:
    Tree read(const std::string& text) {
        Tree tree;
        std::vector<Node> open;
        std::size_t roots = 0;
        const auto finish = [&](Node node) {
            const Id number = static_cast<Id>(tree.size());
            std::vector<Id> rule{node.label};
            for (Id slot = 0; slot < node.kids.size(); ++slot) {
                Node& kid = tree[node.kids[slot]];
                kid.parent = number;
                kid.slot = slot;
                node.flat &= kid.kids.empty();
                rule.push_back(kid.label);
            }
            if (!node.kids.empty()) node.production = productions_.emplace(rule, productions_.size()).first->second;
            if (open.empty()) ++roots;
            else open.back().kids.push_back(number);
            tree.push_back(std::move(node));
        };
        for (std::size_t at = 0; at < text.size();) {
            const char c = text[at];
            if (c == ' ' || c == '\t' || c == '\r') {
                ++at;
            } else if (c == ')') {
                if (open.empty()) fail("a bracket too many", text);
                ++at;
                Node node = std::move(open.back());
                open.pop_back();
                finish(std::move(node));
            } else {
                const bool opens = c == '(';
                const std::size_t begin = opens ? ++at : at;
                while (at < text.size() && text[at] != ' ' && text[at] != '(' && text[at] != ')') ++at;
                const Id label = labels_.emplace(text.substr(begin, at - begin), labels_.size()).first->second;
                Node node{label, kNobody, kNobody, kNobody, {}, true};
                if (opens) open.push_back(std::move(node));
                else finish(std::move(node));
            }
        }
        if (!open.empty() || roots != 1) fail("not one whole tree", text);
        return tree;
    }

  private:
    [[noreturn]] static void fail(const char* why, const std::string& text) {
        std::cerr << "rival: " << why << ": " << text << "\n";
        std::exit(2);
    }

    std::unordered_map<std::string, Id> labels_;
    std::map<std::vector<Id>, Id> productions_;
};

// Numbers productions by falling frequency. What many trees share then stands together at the front of every list, where a
// merge finds nearly all of its matches, and the processor learns to expect none further on.
void renumber(std::vector<Tree>& trees) {
    std::vector<std::pair<std::size_t, Id>> count;
    for (const Tree& tree : trees)
        for (const Node& node : tree) {
            if (node.production == kNobody) continue;
            while (count.size() <= node.production) count.emplace_back(0, static_cast<Id>(count.size()));
            ++count[node.production].first;
        }
    std::stable_sort(count.begin(), count.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<Id> rank(count.size());
    for (Id r = 0; r < count.size(); ++r) rank[count[r].second] = r;
    for (Tree& tree : trees)
        for (Node& node : tree)
            if (node.production != kNobody) node.production = rank[node.production];
}

// What a comparison works on. Nodes are grouped into runs of equal keys: their production or their label. In a run there
// are shallow nodes, of which the number is enough (flat ones, or leaves), and deep ones, which have to be looked into.
struct Run {
    Id shallow, begin, end;  // the deep ones are entries begin .. end - 1
};
struct Entry {
    std::uint64_t below;    // one bit per child key, so that most pairs with none in common are seen at once
    Id context;             // equal for two nodes whose parents, if those match, will ask for this pair
    Id child, arity;        // children are child .. child + arity - 1
};
struct Child {
    Id key, entry;  // entry is kNobody for a shallow child; key is kNobody if it can match nothing
};
struct Sorted {
    std::vector<Id> keys;  // of the runs, ascending, padded with kNobody
    std::vector<Run> runs;
    std::vector<Entry> entries;
    std::vector<Child> children;
};

constexpr std::size_t kBlock = 8;  // keys are padded to a multiple of this

template <class Key, class Deep, class Context>
Sorted sorted(const Tree& tree, Key key, Deep deep, Context context) {
    Sorted result;
    std::vector<Id> order, place(tree.size(), kNobody);
    for (Id n = 0; n < tree.size(); ++n)
        if (key(tree[n]) != kNobody) order.push_back(n);
    std::stable_sort(order.begin(), order.end(), [&](Id a, Id b) { return key(tree[a]) < key(tree[b]); });
    Id entries = 0;
    for (const Id n : order) {
        if (result.keys.empty() || result.keys.back() != key(tree[n])) {
            result.keys.push_back(key(tree[n]));
            result.runs.push_back({0, entries, entries});
        }
        if (deep(tree[n])) {
            place[n] = entries++;
            ++result.runs.back().end;
        } else {
            ++result.runs.back().shallow;
        }
    }
    result.keys.resize((result.keys.size() / kBlock + 1) * kBlock, kNobody);
    for (const Id n : order) {
        if (place[n] == kNobody) continue;
        Entry entry{0, context(tree, tree[n]), static_cast<Id>(result.children.size()), static_cast<Id>(tree[n].kids.size())};
        for (const Id kid : tree[n].kids) {
            entry.below |= std::uint64_t{1} << (key(tree[kid]) % 64);
            result.children.push_back({key(tree[kid]), place[kid]});
        }
        result.entries.push_back(entry);
    }
    return result;
}

// Calls found(position in a, position in b) for every key that both lists hold. Comparing key by key waits for a load or a
// mispredicted branch at every step; where the processor has vectors of eight keys, blocks of them are compared at once.
class Merge {
  public:
    template <class Found>
    void operator()(const std::vector<Id>& a, const std::vector<Id>& b, Found found) {
        if (pairs_.size() < std::min(a.size(), b.size())) pairs_.resize(std::min(a.size(), b.size()));
        std::size_t left = 0, right = 0, count = 0;
#if defined(__AVX2__)
        const __m256i padding = _mm256_set1_epi32(-1);
        while (left < a.size() && right < b.size()) {
            const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a.data() + left));
            const __m256i y = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b.data() + right));
            __m256i same = _mm256_cmpeq_epi32(x, y);
            // Turning within the halves and swapping them has a shorter chain than turning the whole seven times.
            const __m256i swapped = _mm256_permute2x128_si256(y, y, 1);
            same = _mm256_or_si256(same, _mm256_cmpeq_epi32(x, swapped));
            same = _mm256_or_si256(same, _mm256_cmpeq_epi32(x, _mm256_shuffle_epi32(y, 0x39)));
            same = _mm256_or_si256(same, _mm256_cmpeq_epi32(x, _mm256_shuffle_epi32(y, 0x4e)));
            same = _mm256_or_si256(same, _mm256_cmpeq_epi32(x, _mm256_shuffle_epi32(y, 0x93)));
            same = _mm256_or_si256(same, _mm256_cmpeq_epi32(x, _mm256_shuffle_epi32(swapped, 0x39)));
            same = _mm256_or_si256(same, _mm256_cmpeq_epi32(x, _mm256_shuffle_epi32(swapped, 0x4e)));
            same = _mm256_or_si256(same, _mm256_cmpeq_epi32(x, _mm256_shuffle_epi32(swapped, 0x93)));
            same = _mm256_andnot_si256(_mm256_cmpeq_epi32(x, padding), same);
            for (auto mask = lanes(same); mask != 0; mask &= mask - 1) {
                const auto lane = static_cast<std::size_t>(__builtin_ctz(mask));
                const __m256i key = _mm256_set1_epi32(static_cast<int>(a[left + lane]));
                const auto other = static_cast<std::size_t>(__builtin_ctz(lanes(_mm256_cmpeq_epi32(key, y))));
                pairs_[count++] = {static_cast<Id>(left + lane), static_cast<Id>(right + other)};
            }
            const Id last = a[left + kBlock - 1], other_last = b[right + kBlock - 1];
            left += kBlock * std::size_t{last <= other_last};
            right += kBlock * std::size_t{other_last <= last};
        }
#else
        while (a[left] != kNobody && b[right] != kNobody) {
            const Id x = a[left], y = b[right];
            pairs_[count] = {static_cast<Id>(left), static_cast<Id>(right)};
            count += std::size_t{x == y};
            left += std::size_t{x <= y};
            right += std::size_t{y <= x};
        }
#endif
        for (std::size_t k = 0; k < count; ++k) found(pairs_[k].first, pairs_[k].second);
    }

  private:
#if defined(__AVX2__)
    static unsigned lanes(__m256i mask) { return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(mask))); }
#endif

    std::vector<std::pair<Id, Id>> pairs_;
};

// K = sum of D over pairs with equal productions; D = decay * prod (sigma + D(child)), where sigma is 1 for subset trees
// and 0 for subtrees.
template <bool kSubset>
class Productions {
  public:
    explicit Productions(const Parameters& parameters) : decay_(parameters.decay) {}

    static std::vector<Sorted> prepare(const std::vector<Tree>& trees) {
        std::map<std::pair<Id, Id>, Id> contexts;
        std::vector<Sorted> result;
        for (const Tree& tree : trees)
            result.push_back(sorted(
                tree, [](const Node& node) { return node.production; }, [](const Node& node) { return !node.flat; },
                [&](const Tree& all, const Node& node) {
                    if (node.parent == kNobody) return kNobody;
                    return contexts.emplace(std::pair{all[node.parent].production, node.slot}, contexts.size()).first->second;
                }));
        return result;
    }

    double operator()(const Sorted& a, const Sorted& b) {
        a_ = &a;
        b_ = &b;
        sum_ = 0.0;
        std::size_t shallow = 0;
        merge_(a.keys, b.keys, [&](Id i, Id j) {
            const Run left = a.runs[i], right = b.runs[j];
            // A flat node has D = decay against any node (subset trees), or against a flat one only (subtrees).
            shallow += std::size_t{left.shallow} * right.shallow;
            if (kSubset) shallow += std::size_t{left.shallow} * (right.end - right.begin) + std::size_t{left.end - left.begin} * right.shallow;
            for (Id n = left.begin; n < left.end; ++n)
                for (Id m = right.begin; m < right.end; ++m)
                    if (a.entries[n].context != b.entries[m].context || a.entries[n].context == kNobody)
                        delta(a.entries[n], b.entries[m]);
        });
        return sum_ + decay_ * static_cast<double>(shallow);
    }

  private:
    // For two deep nodes with the same production; adds D to the sum as well.
    double delta(const Entry& x, const Entry& y) {
        const Child *left = a_->children.data() + x.child, *right = b_->children.data() + y.child;
        double product = decay_;
        for (Id i = 0; i < x.arity; ++i) {
            if (left[i].key != right[i].key) {
                if (!kSubset) product = 0.0;
            } else if (left[i].key != kNobody) {
                double below = decay_;
                if (left[i].entry != kNobody && right[i].entry != kNobody)
                    below = delta(a_->entries[left[i].entry], b_->entries[right[i].entry]);
                else if (!kSubset && left[i].entry != right[i].entry)
                    below = 0.0;
                product *= kSubset ? 1.0 + below : below;
            }
        }
        sum_ += product;
        return product;
    }

    double decay_, sum_ = 0.0;
    const Sorted *a_ = nullptr, *b_ = nullptr;
    Merge merge_;
};

// D = mu * (lambda^2 + sum over child sequences), in O(children * children) per pair of nodes with the same label.
class Labels {
  public:
    explicit Labels(const Parameters& parameters)
        : decay_(parameters.decay), depth_decay_(parameters.depth_decay), bare_(depth_decay_ * decay_ * decay_) {}

    std::vector<Sorted> prepare(const std::vector<Tree>& trees) {
        std::size_t largest = 0;
        std::vector<Sorted> result;
        for (const Tree& tree : trees) {
            largest = std::max(largest, tree.size());
            result.push_back(sorted(
                tree, [](const Node& node) { return node.label; }, [](const Node& node) { return !node.kids.empty(); },
                [](const Tree& all, const Node& node) { return node.parent == kNobody ? kNobody : all[node.parent].label; }));
        }
        above_.resize(largest);
        return result;
    }

    double operator()(const Sorted& a, const Sorted& b) {
        a_ = &a;
        b_ = &b;
        sum_ = 0.0;
        std::size_t shallow = 0;
        merge_(a.keys, b.keys, [&](Id i, Id j) {
            const Run left = a.runs[i], right = b.runs[j];
            shallow += std::size_t{left.shallow} * (right.shallow + right.end - right.begin) +
                       std::size_t{left.end - left.begin} * right.shallow;
            for (Id n = left.begin; n < left.end; ++n)
                for (Id m = right.begin; m < right.end; ++m)
                    if (a.entries[n].context != b.entries[m].context || a.entries[n].context == kNobody)
                        delta(a.entries[n], b.entries[m], above_.data());
        });
        return sum_ + bare_ * static_cast<double>(shallow);
    }

  private:
    // For two internal nodes with the same label; adds D to the sum as well. `above` is scratch space: nested calls take
    // what lies behind the part that this one uses.
    double delta(const Entry& x, const Entry& y, double* above) {
        double total = 0.0;
        if (x.below & y.below) {
            const Child *left = a_->children.data() + x.child, *right = b_->children.data() + y.child;
            if (x.arity == 1 || y.arity == 1) {
                for (Id i = 0; i < x.arity; ++i)
                    for (Id j = 0; j < y.arity; ++j)
                        if (left[i].key == right[j].key) total += pair(left[i], right[j], above);
            } else {
                std::fill(above, above + y.arity, 0.0);
                for (Id i = 0; i < x.arity; ++i) {
                    double before = 0.0;  // sequences that end before (i, j), weighted by their gaps
                    for (Id j = 0; j < y.arity; ++j) {
                        double value = 0.0;
                        if (left[i].key == right[j].key) {
                            value = pair(left[i], right[j], above + y.arity) * (1.0 + before);
                            total += value;
                        }
                        before = decay_ * before + above[j];
                        above[j] = decay_ * above[j] + value;
                    }
                }
            }
        }
        const double result = bare_ + depth_decay_ * total;
        sum_ += result;
        return result;
    }

    double pair(const Child& x, const Child& y, double* above) {
        if (x.entry == kNobody || y.entry == kNobody) return bare_;
        return delta(a_->entries[x.entry], b_->entries[y.entry], above);
    }

    double decay_, depth_decay_, bare_, sum_ = 0.0;
    const Sorted *a_ = nullptr, *b_ = nullptr;
    std::vector<double> above_;
    Merge merge_;
};

template <class Kernel>
void measure(const char* name, Kernel kernel, const std::vector<Tree>& trees, int repeat, const std::string& out) {
    constexpr std::size_t kTile = 128;
    const std::vector<Sorted> ready = kernel.prepare(trees);
    const std::size_t count = ready.size();
    std::vector<double> gram(count * (count + 1) / 2);
    double best = std::numeric_limits<double>::infinity();
    for (int r = 0; r < repeat; ++r) {
        const std::clock_t start = std::clock();
        // Tiles keep the trees at hand in the cache.
        for (std::size_t top = 0; top < count; top += kTile)
            for (std::size_t side = top; side < count; side += kTile)
                for (std::size_t i = top; i < std::min(top + kTile, count); ++i) {
                    double* row = gram.data() + i * count - i * (i + 1) / 2;
                    for (std::size_t j = std::max(i, side); j < std::min(side + kTile, count); ++j)
                        row[j] = kernel(ready[i], ready[j]);
                }
        best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    std::printf("%s %zu %.6f\n", name, gram.size(), best);
    std::fflush(stdout);
    if (out.empty()) return;
    std::ofstream file(out + "." + name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(gram.data()), static_cast<std::streamsize>(gram.size() * sizeof(double)));
    if (!file) std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
    Parameters parameters;
    std::string path, out, kernels = "sst,st,ptk";
    int repeat = 3;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word.rfind("--", 0) != 0) {
            path = word;
            continue;
        }
        if (i + 1 == argc) return 2;
        const std::string value = argv[++i];
        if (word == "--kernels") kernels = value;
        else if (word == "--decay") parameters.decay = std::stod(value);
        else if (word == "--depth-decay") parameters.depth_decay = std::stod(value);
        else if (word == "--repeat") repeat = std::stoi(value);
        else if (word == "--out") out = value;
        else return 2;
    }
    std::ifstream file(path);
    if (!file) {
        std::cerr << "rival: cannot read " << path << "\n";
        return 2;
    }
    Reader reader;
    std::vector<Tree> trees;
    for (std::string line; std::getline(file, line);)
        if (!line.empty()) trees.push_back(reader.read(line));
    renumber(trees);
    std::istringstream names(kernels);
    for (std::string name; std::getline(names, name, ',');) {
        if (name == "sst") measure("sst", Productions<true>(parameters), trees, repeat, out);
        else if (name == "st") measure("st", Productions<false>(parameters), trees, repeat, out);
        else if (name == "ptk") measure("ptk", Labels(parameters), trees, repeat, out);
        else return 2;
    }
    return 0;
}
