package main

import "testing"

// Most questions still have their paragraph: docs change, and a set of which nothing is left measures nothing.
func TestParaphrasedQuestionsHaveParagraphs(t *testing.T) {
	c, err := readParaphrased("../..")
	if err != nil || len(c.questions) < 150 || len(c.turns) < 300 {
		t.Errorf("%d questions about %d paragraphs, %v", len(c.questions), len(c.turns), err)
	}
	t.Logf("%d questions about %d paragraphs", len(c.questions), len(c.turns))
}
