package seal

import (
	"crypto/sha256"
	"strings"
)

// phrase turns bytes into four pronounceable words of 16 bits each (consonant,
// vowel, consonant, vowel, consonant: the proquint alphabet), 64 bits in all.
func phrase(b []byte) string {
	const consonants, vowels = "bdfghjklmnprstvz", "aiou"
	sum := sha256.Sum256(lvCat([]byte("tandem-phrase-v1"), b))
	words := make([]string, 4)
	for i := range words {
		n := uint(sum[2*i])<<8 | uint(sum[2*i+1])
		words[i] = string([]byte{
			consonants[n>>12], vowels[n>>10&3], consonants[n>>6&15], vowels[n>>4&3], consonants[n&15],
		})
	}
	return strings.Join(words, "-")
}
