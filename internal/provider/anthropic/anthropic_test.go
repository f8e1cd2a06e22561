package anthropic_test

import (
	"net/http"
	"testing"

	"tandem/internal/provider"
	"tandem/internal/provider/anthropic"
	"tandem/internal/provider/providertest"
)

func TestExam(t *testing.T) {
	providertest.Run(t, func(base string, tr http.RoundTripper) provider.Model {
		return anthropic.New(anthropic.Options{Base: base, Key: providertest.Key, Transport: tr})
	})
}
