package bert

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"tandem/internal/memory/vector"
)

// Bounds of a model.
const (
	maxVocab  = 1 << 20
	maxSmall  = 1 << 20 // bytes of its small files, but for the vocabulary
	MaxVocab  = 16 << 20
	maxTokens = 256 // of a text; what it is about is said by then
	maxHeld   = 512 << 20
)

// config is what a model says of itself, as far as it matters.
type config struct {
	Type       string  `json:"model_type"`
	Hidden     int     `json:"hidden_size"`
	Layers     int     `json:"num_hidden_layers"`
	Heads      int     `json:"num_attention_heads"`
	Inner      int     `json:"intermediate_size"`
	Activation string  `json:"hidden_act"`
	Epsilon    float64 `json:"layer_norm_eps"`
	Positions  int     `json:"max_position_embeddings"`
	Types      int     `json:"type_vocab_size"`
	Vocab      int     `json:"vocab_size"`
	Embedding  string  `json:"position_embedding_type"`
}

func readConfig(raw []byte) (c config, err error) {
	if len(raw) > maxSmall || json.Unmarshal(raw, &c) != nil {
		return c, fmt.Errorf("config.json cannot be read")
	}
	between := func(n, low, high int) bool { return low <= n && n <= high }
	switch {
	case c.Type != "bert":
		return c, fmt.Errorf("it is a model of the type %.40q, not bert", c.Type)
	case c.Activation != "gelu" || c.Embedding != "" && c.Embedding != "absolute":
		return c, fmt.Errorf("its activation %.40q or its positions %.40q are not known here", c.Activation, c.Embedding)
	case !between(c.Hidden, 2, 1024) || !between(c.Layers, 1, 24) || !between(c.Heads, 1, 64) || !between(c.Inner, 1, 4096) ||
		!between(c.Positions, 3, 1<<14) || !between(c.Types, 1, 16) || !between(c.Vocab, 4, maxVocab) || c.Hidden%c.Heads != 0 ||
		!(c.Epsilon > 0 && c.Epsilon < 1):
		return c, fmt.Errorf("its sizes are none of a small model")
	}
	if each := 4*c.Hidden*c.Hidden + 2*c.Hidden*c.Inner; 4*each*c.Layers > maxHeld {
		return c, fmt.Errorf("it would take %d MB of memory, and %d are allowed", 4*each*c.Layers>>20, maxHeld>>20)
	}
	return c, nil
}

// readVocab reads a vocabulary, a piece a line, and says which are the pieces for the beginning and the end of a text.
func readVocab(raw []byte, size int) (words vector.Words, first, last int32, err error) {
	lines := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	if len(raw) > MaxVocab || len(lines) != size {
		return nil, 0, 0, fmt.Errorf("vocab.txt has %d pieces, and the model %d", len(lines), size)
	}
	words = make(vector.Words, size)
	for i, w := range lines {
		w = strings.TrimSuffix(w, "\r")
		if !strings.HasPrefix(w, "[") && strings.ContainsFunc(w, unicode.IsUpper) && strings.ToLower(w) != w {
			return nil, 0, 0, fmt.Errorf("its vocabulary tells capitals from small letters (%.40q), which is not known here", w)
		}
		if _, twice := words[w]; !twice {
			words[w] = int32(i)
		}
	}
	for _, special := range []string{"[CLS]", "[SEP]", "[UNK]"} {
		if _, ok := words[special]; !ok {
			return nil, 0, 0, fmt.Errorf("its vocabulary has no %s", special)
		}
	}
	return words, words["[CLS]"], words["[SEP]"], nil
}

// firstPools says whether the first token stands for a text, and not the mean of all.
func firstPools(raw []byte) (bool, error) {
	if len(raw) == 0 {
		return false, nil
	}
	var p struct {
		First bool `json:"pooling_mode_cls_token"`
		Mean  bool `json:"pooling_mode_mean_tokens"`
	}
	if len(raw) > maxSmall || json.Unmarshal(raw, &p) != nil || p.First == p.Mean {
		return false, fmt.Errorf("1_Pooling/config.json names neither the mean nor the first token")
	}
	return p.First, nil
}
