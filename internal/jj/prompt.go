package jj

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
)

// Questions to the person at the terminal. JJ_INTERACTIVE=1 stands for a
// terminal, so that scripts can answer.

func (u *ui) canPrompt() bool { return isTerminal(u.io.Stderr) || u.io.getenv("JJ_INTERACTIVE") == "1" }

// ask prompts for one line.
func (u *ui) ask(prompt string) (string, error) {
	if !u.canPrompt() {
		return "", userf("Cannot prompt for input since the output is not connected to a terminal")
	}
	if u.in == nil {
		u.in = bufio.NewReader(u.io.Stdin)
	}
	fmt.Fprintf(u.io.Stderr, "%s: ", prompt)
	line, err := u.in.ReadString('\n')
	if line == "" && err != nil {
		return "", userf("Prompt canceled by EOF")
	}
	return strings.TrimSpace(line), nil
}

// choose prompts until one of the choices is given.
func (u *ui) choose(prompt string, choices []string) (int, error) {
	for {
		line, err := u.ask(prompt)
		if err != nil {
			return 0, err
		}
		if line == "" {
			continue
		}
		if i := slices.Index(choices, line); i >= 0 {
			return i, nil
		}
		u.warnf("unrecognized response")
	}
}

// yesNo asks until the answer is yes or no; an empty line takes the default,
// and so it is where nobody can be asked.
func (u *ui) yesNo(prompt string, def bool) (bool, error) {
	keys, word := "(yN)", "n"
	if def {
		keys, word = "(Yn)", "y"
	}
	prompt += " " + keys
	if !u.canPrompt() {
		fmt.Fprintf(u.io.Stderr, "%s: %s\n", prompt, word)
		return def, nil
	}
	for {
		line, err := u.ask(prompt)
		if err != nil {
			return false, err
		}
		switch strings.ToLower(line) {
		case "":
			return def, nil
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
		u.warnf("unrecognized response")
	}
}
