package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const paraphrased = "bench/run/testdata/paraphrased.txt"

// leftOut are documents that a program writes: the same is said in others.
var leftOut = map[string]bool{"cli": true, "sdk": true, "speed": true, "glossary": true}

// readParaphrased reads the paragraphs of this checkout's docs, and questions about some of them. A question whose paragraph is gone is
// left out.
func readParaphrased(root string) (c conversation, err error) {
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		return c, err
	}
	for _, file := range append(files, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md")) {
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		raw, err := os.ReadFile(file)
		if err != nil {
			return c, err
		}
		for n, p := range strings.Split(string(raw), "\n\n") {
			if p = strings.Join(strings.Fields(p), " "); len(p) > 80 && !leftOut[name] && !strings.HasPrefix(p, "<!--") {
				c.turns = append(c.turns, turn{fmt.Sprintf("%s:%d", name, n), p})
			}
		}
	}
	raw, err := os.ReadFile(filepath.Join(root, paraphrased))
	if err != nil {
		return c, err
	}
	for line := range strings.Lines(string(raw)) {
		parts := strings.SplitN(strings.TrimSpace(line), "|", 3)
		if strings.HasPrefix(line, "#") || len(parts) != 3 {
			continue
		}
		if at := c.about(parts[0], parts[1]); at != "" {
			c.questions = append(c.questions, question{parts[2], []string{at}})
		}
	}
	c.apart = true
	return c, nil
}

// about is the one paragraph of a file that holds some words.
func (c conversation) about(file, words string) (id string) {
	for _, t := range c.turns {
		if strings.HasPrefix(t.id, file+":") && strings.Contains(t.text, words) {
			if id != "" {
				return ""
			}
			id = t.id
		}
	}
	return id
}
