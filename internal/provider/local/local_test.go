package local

import (
	"reflect"
	"testing"

	"tandem/internal/provider"
	"tandem/internal/provider/providertest"
)

func TestExam(t *testing.T) { providertest.Contract(t, Model{}, Name) }

func TestSameRequestSameReply(t *testing.T) {
	r := provider.Request{Model: Name, Messages: []provider.Message{provider.TextMessage(provider.User, "Summarize README.md")}}
	a, err := Model{}.Stream(t.Context(), r, nil)
	if err != nil || a.Text() != "echo: Summarize README.md" {
		t.Fatalf("%q %v", a.Text(), err)
	}
	b, _ := Model{}.Stream(t.Context(), r, nil)
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%+v is not %+v", a, b)
	}
	r.MaxTokens = 2
	if c, _ := (Model{}).Stream(t.Context(), r, nil); c.Text() != "echo: Summarize " || c.Stop != provider.StopLength {
		t.Errorf("limit of two: %q %s", c.Text(), c.Stop)
	}
}

func TestRefusesOtherModels(t *testing.T) {
	_, err := Model{}.Stream(t.Context(), provider.Request{Model: "gpt", Messages: []provider.Message{{}}}, nil)
	if provider.FailureOf(err) != provider.UnknownModel {
		t.Errorf("%v", err)
	}
	_, err = Model{}.Stream(t.Context(), provider.Request{Model: Name}, nil)
	if provider.FailureOf(err) != provider.Rejected {
		t.Errorf("%v", err)
	}
}
