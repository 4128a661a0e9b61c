// A network that scores every span of a sentence for every label, and every word for every tag.
//
// Vectors of words go through layers of LSTMs in both directions. A span is the difference between the states at its
// two ends, so the first layer above is applied once per position between words and not once per span.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

#include "core/matrix.hpp"
#include "core/parallel.hpp"
#include "parse/span_chart.hpp"

namespace sapwood::parse {

struct LstmLayer {
    Affine input, recurrent;  // to the gates
    std::size_t size() const { return recurrent.inner(); }
};

// A layer, normalized, and one of outputs on top. That of spans has no bias below: it would not survive the difference.
struct Head {
    Affine hidden;
    std::vector<float> scale, shift;
    Affine output;
};

class SpanNetwork {
  public:
    // `dense` may be empty: then words have no part that has to be reduced. Of each pair of layers the first reads
    // forward. `first` and `last` stand for the words before and behind a sentence.
    SpanNetwork(Affine dense, std::vector<LstmLayer> layers, std::vector<float> first, std::vector<float> last,
                Head spans, Head tags)
        : dense_(std::move(dense)),
          layers_(std::move(layers)),
          first_(std::move(first)),
          last_(std::move(last)),
          spans_(std::move(spans)),
          tags_(std::move(tags)) {
        const auto fail = [] { throw std::invalid_argument("the layers of the network do not fit together"); };
        if (layers_.empty() || layers_.size() % 2 != 0 || first_.size() != last_.size()) fail();
        std::size_t width = first_.size();
        if (width < dense_.outer()) fail();
        for (std::size_t at = 0; at < layers_.size(); ++at) {
            const LstmLayer &layer = layers_[at], &partner = layers_[at ^ 1];
            if (layer.input.inner() != width || layer.input.outer() != 4 * layer.size() ||
                layer.recurrent.outer() != 4 * layer.size() || layer.size() != partner.size() ||
                4 * layer.size() % kPanel != 0)
                fail();
            if (at % 2 == 1) width = 2 * layer.size();
        }
        for (const Head* head : {&spans_, &tags_})
            if (head->hidden.inner() != width || head->scale.size() != head->hidden.outer() ||
                head->shift.size() != head->scale.size() || head->output.inner() != head->scale.size() ||
                head->output.outer() == 0)
                fail();
    }

    std::size_t labels() const { return spans_.output.outer(); }
    std::size_t tags() const { return tags_.output.outer(); }
    // Length of what is given per word: the part to be reduced, then the rest.
    std::size_t dense_width() const { return dense_.inner(); }
    std::size_t plain_width() const { return first_.size() - dense_.outer(); }

    struct Input {
        std::size_t words;
        const float *dense, *plain;
        float *span_scores, *tag_scores;  // words (words + 1) / 2 × labels, and words × tags
    };

    // Scores some sentences side by side, longest first; each gets what it would get alone.
    void score(std::span<const Input> sentences, const Control& control) const {
        // The rows of a sentence stand one after the other, its two ends included.
        std::vector<std::size_t> begins{0};
        for (const Input& sentence : sentences) begins.push_back(begins.back() + sentence.words + 2);
        std::vector<float> states = embed(sentences, begins);
        std::size_t width = first_.size();
        for (std::size_t at = 0; at < layers_.size(); at += 2) {
            states = run(layers_[at], layers_[at + 1], sentences, begins, states, width, control);
            width = 2 * layers_[at].size();
        }
        for (std::size_t at = 0; at < sentences.size(); ++at) {
            const float* rows = states.data() + begins[at] * width;
            score_tags(sentences[at], rows, width);
            score_spans(sentences[at], rows, width, control);
        }
    }

  private:
    // The vectors of the words of all sentences, each between those that stand for its two ends.
    std::vector<float> embed(std::span<const Input> sentences, std::span<const std::size_t> begins) const {
        const std::size_t width = first_.size(), reduced = dense_.outer(), plain = plain_width();
        std::vector<float> rows(begins.back() * width), given, made;
        for (std::size_t at = 0; at < sentences.size(); ++at) {
            const Input& sentence = sentences[at];
            float* row = rows.data() + begins[at] * width;
            std::copy(first_.begin(), first_.end(), row);
            for (std::size_t word = 0; word < sentence.words; ++word)
                std::copy_n(sentence.plain + word * plain, plain, row + (word + 1) * width + reduced);
            std::copy(last_.begin(), last_.end(), row + (sentence.words + 1) * width);
            if (reduced > 0)
                given.insert(given.end(), sentence.dense, sentence.dense + sentence.words * dense_.inner());
        }
        if (reduced == 0) return rows;
        const std::size_t words = begins.back() - 2 * sentences.size();
        made.resize(words * dense_.stride());
        dense_.apply(given.data(), dense_.inner(), words, made.data());
        const float* from = made.data();
        for (std::size_t at = 0; at < sentences.size(); ++at)
            for (std::size_t word = 0; word < sentences[at].words; ++word, from += dense_.stride())
                for (std::size_t k = 0; k < reduced; ++k)
                    rows[(begins[at] + word + 1) * width + k] = std::max(0.0f, from[k]);
        return rows;
    }

    std::vector<float> run(const LstmLayer& forward, const LstmLayer& backward, std::span<const Input> sentences,
                           std::span<const std::size_t> begins, const std::vector<float>& below, std::size_t width,
                           const Control& control) const {
        const std::size_t size = forward.size(), gates = forward.input.stride();
        std::vector<float> above(begins.back() * 2 * size), driven(begins.back() * gates);
        std::vector<float> hidden(sentences.size() * size), cell(hidden.size()), sums(sentences.size() * gates);
        for (int direction = 0; direction < 2; ++direction) {
            const LstmLayer& layer = direction == 0 ? forward : backward;
            layer.input.apply(below.data(), width, begins.back(), driven.data());
            std::fill(hidden.begin(), hidden.end(), 0.0f);
            std::fill(cell.begin(), cell.end(), 0.0f);
            // Sentences end one after the other, the last of them first.
            std::size_t active = sentences.size();
            for (std::size_t step = 0; active > 0; ++step) {
                while (active > 0 && step >= sentences[active - 1].words + 2) --active;
                control.check();
                const auto row = [&](std::size_t at) {
                    return begins[at] + (direction == 0 ? step : sentences[at].words + 1 - step);
                };
                for (std::size_t at = 0; at < active; ++at)
                    std::copy_n(driven.data() + row(at) * gates, gates, sums.data() + at * gates);
                layer.recurrent.add(hidden.data(), size, active, sums.data());
                for (std::size_t at = 0; at < active; ++at) {
                    lstm_step(sums.data() + at * gates, cell.data() + at * size, hidden.data() + at * size, size);
                    std::copy_n(hidden.data() + at * size, size,
                                above.data() + (2 * row(at) + static_cast<std::size_t>(direction)) * size);
                }
            }
        }
        return above;
    }

    void score_tags(const Input& sentence, const float* states, std::size_t width) const {
        const std::size_t size = tags_.scale.size();
        std::vector<float> hidden(sentence.words * tags_.hidden.stride()), out(sentence.words * tags_.output.stride());
        tags_.hidden.apply(states + width, width, sentence.words, hidden.data());
        std::vector<float> normal(sentence.words * size);
        for (std::size_t word = 0; word < sentence.words; ++word)
            normalize_relu(hidden.data() + word * tags_.hidden.stride(), tags_.scale.data(), tags_.shift.data(),
                           normal.data() + word * size, size);
        tags_.output.apply(normal.data(), size, sentence.words, out.data());
        for (std::size_t word = 0; word < sentence.words; ++word)
            std::copy_n(out.data() + word * tags_.output.stride(), tags(), sentence.tag_scores + word * tags());
    }

    void score_spans(const Input& sentence, const float* states, std::size_t width, const Control& control) const {
        const std::size_t words = sentence.words, half = width / 2, size = spans_.scale.size();
        const std::size_t stride = spans_.hidden.stride(), out_stride = spans_.output.stride();
        // Position k lies behind word k (counted from 1): what was read up to it, less what is read back to it.
        std::vector<float> posts((words + 1) * width), projected((words + 1) * stride);
        for (std::size_t k = 0; k <= words; ++k) {
            std::copy_n(states + k * width, half, posts.data() + k * width);
            for (std::size_t j = 0; j < half; ++j) posts[k * width + half + j] = -states[(k + 1) * width + half + j];
        }
        for (std::size_t k = 0; k <= words; ++k) std::fill_n(projected.data() + k * stride, stride, 0.0f);
        spans_.hidden.add(posts.data(), width, words + 1, projected.data());
        std::vector<float> difference(size), normal(words * size), out(words * out_stride);
        for (std::size_t end = 1; end <= words; ++end) {
            control.check();
            const float* right = projected.data() + end * stride;
            for (std::size_t begin = 0; begin < end; ++begin) {
                const float* left = projected.data() + begin * stride;
                for (std::size_t j = 0; j < size; ++j) difference[j] = right[j] - left[j];
                normalize_relu(difference.data(), spans_.scale.data(), spans_.shift.data(),
                               normal.data() + begin * size, size);
            }
            spans_.output.apply(normal.data(), size, end, out.data());
            for (std::size_t begin = 0; begin < end; ++begin)
                std::copy_n(out.data() + begin * out_stride, labels(),
                            sentence.span_scores + span_at(begin, end) * labels());
        }
    }

    Affine dense_;
    std::vector<LstmLayer> layers_;
    std::vector<float> first_, last_;
    Head spans_, tags_;
};

}  // namespace sapwood::parse
