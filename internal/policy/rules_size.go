package policy

// What one rule may hold. Reading and checking takes time that grows with the square of how deep a rule nests and of how many operators
// stand in a row, and more than that for records: 40 kilobytes of nested ones took minutes, and so did a long list of them.
const (
	maxRuleNested    = 32
	maxRuleOperators = 400
	maxRuleParts     = 1000
)

// sized refuses rules that would take long to read, before anything reads them.
func sized(text string) error {
	depth, operators, parts, line := 0, 0, 0, 1
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\n':
			line++
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			if i+1 < len(text) && text[i+1] == '/' {
				for i+1 < len(text) && text[i+1] != '\n' {
					i++
				}
			}
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			parts++
		case ';':
			if depth <= 0 {
				depth, operators, parts = 0, 0, 0
			}
		case '!', '-', '+', '*', '.', '&', '|', '=', '<', '>':
			operators++
		case 'i':
			if i+1 < len(text) && text[i+1] == 'f' {
				operators++
			}
		}
		if depth > maxRuleNested {
			return malformed("line %d: the rule is nested deeper than %d brackets; write it as several", line, maxRuleNested)
		}
		if parts > maxRuleParts {
			return malformed("line %d: the rule lists more than %d things; write it as several", line, maxRuleParts)
		}
		if operators > maxRuleOperators {
			return malformed("line %d: the rule has more than %d operators; write it as several", line, maxRuleOperators)
		}
	}
	return nil
}
