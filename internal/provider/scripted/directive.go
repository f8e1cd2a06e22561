package scripted

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// directives reads the turns out of a prompt. Brackets inside JSON arguments are no trouble: a directive ends at the
// first "]]" after which its text is complete.
func directives(prompt string) ([]Turn, error) {
	var out []Turn
	rest := prompt
	for {
		i := strings.Index(rest, "[[")
		if i < 0 {
			return out, nil
		}
		rest = rest[i+2:]
		t, n, err := directive(rest)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
		rest = rest[n:]
	}
}

// directive reads one, and how many bytes it took with its end.
func directive(s string) (Turn, int, error) {
	var last error
	for from := 0; ; {
		i := strings.Index(s[from:], "]]")
		if i < 0 {
			if last == nil {
				last = fmt.Errorf("a directive has no end: %.40q", s)
			}
			return nil, 0, last
		}
		end := from + i
		for end+2 < len(s) && s[end+2] == ']' { // "]]]" ends a JSON list first
			end++
		}
		t, err := steps(s[:end])
		if err == nil {
			return t, end + 2, nil
		}
		last, from = err, end+2
	}
}

func steps(s string) (Turn, error) {
	var out Turn
	for part := range strings.SplitSeq(s, ";;") {
		word, arg, _ := strings.Cut(strings.TrimSpace(part), " ")
		st, err := step(word, strings.TrimSpace(arg))
		if err != nil {
			return nil, err
		}
		out = append(out, st)
	}
	return out, nil
}

func step(word, arg string) (Step, error) {
	num := func(def float64) (float64, error) {
		if arg == "" {
			return def, nil
		}
		return strconv.ParseFloat(arg, 64)
	}
	switch word {
	case "say":
		return Step{Say: arg}, nil
	case "think":
		return Step{Think: arg}, nil
	case "slow":
		n, err := num(2)
		return Step{Slow: n}, err
	case "hang":
		n, err := num(600)
		return Step{Hang: n}, err
	case "drop":
		return Step{Drop: true}, nil
	case "result":
		return Step{Result: true}, nil
	case "maxtok":
		return Step{Say: arg, Stop: "length"}, nil
	case "refuse":
		return Step{Say: "I will not do that.", Stop: "refusal"}, nil
	case "streamerr":
		return Step{StreamError: arg}, nil
	case "tool":
		name, args, _ := strings.Cut(arg, " ")
		if args = strings.TrimSpace(args); args == "" {
			args = "{}"
		}
		if !json.Valid([]byte(args)) {
			return Step{}, fmt.Errorf("arguments of %s are not JSON: %.60q", name, args)
		}
		return Step{Tool: name, Args: json.RawMessage(args)}, nil
	case "err":
		code, after, _ := strings.Cut(arg, " ")
		n, err := strconv.Atoi(code)
		st := Step{Error: n}
		if err == nil && after != "" {
			st.RetryAfter, err = strconv.ParseFloat(after, 64)
		}
		return st, err
	case "errn":
		times, rest, _ := strings.Cut(arg, " ")
		n, err := strconv.Atoi(times)
		if err != nil {
			return Step{}, err
		}
		st, err := step("err", strings.TrimSpace(rest))
		st.Times = n
		return st, err
	}
	return Step{}, fmt.Errorf("unknown directive %q", word)
}
