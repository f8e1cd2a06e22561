package qr

// The field of 256 elements with the polynomial x⁸+x⁴+x³+x²+1.
var exp, log = func() (exp [512]byte, log [256]byte) {
	x := 1
	for i := range 255 {
		exp[i], exp[i+255], log[x] = byte(x), byte(x), byte(i)
		if x <<= 1; x > 255 {
			x ^= 0x11d
		}
	}
	return exp, log
}()

func times(a, b byte) byte {
	if a == 0 || b == 0 {
		return 0
	}
	return exp[int(log[a])+int(log[b])]
}

// correction is the remainder of the data by the generator of n roots, Reed and Solomon's code.
func correction(data []byte, n int) []byte {
	generator := make([]byte, n) // without its leading one, highest first
	generator[n-1] = 1
	root := byte(1)
	for range n {
		for i := range generator {
			generator[i] = times(generator[i], root)
			if i+1 < n {
				generator[i] ^= generator[i+1]
			}
		}
		root = times(root, 2)
	}
	out := make([]byte, n)
	for _, b := range data {
		factor := b ^ out[0]
		copy(out, out[1:])
		out[n-1] = 0
		for i, g := range generator {
			out[i] ^= times(g, factor)
		}
	}
	return out
}
