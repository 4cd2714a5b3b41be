//go:build !cgo

package model

import "errors"

// openEncoder refuses: ONNX Runtime is a C library.
func openEncoder(string, []byte) (encode, func() error, error) {
	return nil, nil, errors.New("this program was built without C, which ONNX Runtime needs: build it with CGO_ENABLED=1, or use --embedder builtin")
}
