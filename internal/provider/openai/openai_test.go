package openai_test

import (
	"net/http"
	"testing"

	"tandem/internal/provider"
	"tandem/internal/provider/openai"
	"tandem/internal/provider/providertest"
)

func TestExam(t *testing.T) {
	for _, wire := range []string{openai.Responses, openai.Chat} {
		t.Run(wire, func(t *testing.T) {
			providertest.Run(t, func(base string, tr http.RoundTripper) provider.Model {
				return openai.New(openai.Options{Base: base + "/v1", Wire: wire, Key: providertest.Key, Transport: tr})
			})
		})
	}
}
