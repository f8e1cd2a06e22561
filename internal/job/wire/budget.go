package wire

import (
	"strconv"
	"strings"

	"tandem/internal/fault"
)

// ParseBudget reads what a person writes: 3usd, 200000tokens, 10turns, several with commas.
func ParseBudget(text string) (b Budget, err error) {
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		number := strings.TrimRight(part, "abcdefghijklmnopqrstuvwxyz")
		n, wrong := strconv.ParseFloat(number, 64)
		if wrong == nil && n > 0 {
			switch part[len(number):] {
			case "usd":
				b.Cents = int64(n*100 + 0.5)
				continue
			case "tokens":
				b.Tokens = int64(n)
				continue
			case "turns":
				b.Turns = int64(n)
				continue
			}
		}
		return b, fault.New(fault.Invalid, "job.start", "%.40q is no budget", part).WithNext("write 3usd, 200000tokens or 10turns")
	}
	return b, nil
}

// String writes it as a person would; nothing for no limit.
func (b Budget) String() string {
	var out []string
	if b.Cents > 0 {
		out = append(out, strconv.FormatFloat(float64(b.Cents)/100, 'f', -1, 64)+"usd")
	}
	if b.Tokens > 0 {
		out = append(out, strconv.FormatInt(b.Tokens, 10)+"tokens")
	}
	if b.Turns > 0 {
		out = append(out, strconv.FormatInt(b.Turns, 10)+"turns")
	}
	return strings.Join(out, ", ")
}
