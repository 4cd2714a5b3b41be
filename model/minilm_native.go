//go:build cgo

package model

import (
	"fmt"
	"runtime"
	"sync"

	onnx "github.com/yalue/onnxruntime_go"
)

// onnxRuntime is the one ONNX Runtime a process can hold, loaded at its first use.
var onnxRuntime struct {
	sync.Mutex
	library string
}

// loadRuntime opens the shared library of ONNX Runtime.
func loadRuntime(library string) error {
	onnxRuntime.Lock()
	defer onnxRuntime.Unlock()
	if onnxRuntime.library == library {
		return nil
	}
	if onnxRuntime.library != "" {
		return fmt.Errorf("ONNX Runtime is loaded from %s already; start the program anew to use %s", onnxRuntime.library, library)
	}
	onnx.SetSharedLibraryPath(library)
	if err := onnx.InitializeEnvironment(onnx.WithLogLevelError()); err != nil {
		return fmt.Errorf("ONNX Runtime cannot be loaded; run make minilm again: %w", err)
	}
	onnxRuntime.library = library
	return nil
}

// openEncoder makes a session of one thread over the weights of the encoder.
func openEncoder(library string, weights []byte) (encode, func() error, error) {
	if err := loadRuntime(library); err != nil {
		return nil, nil, err
	}
	options, err := onnx.NewSessionOptions()
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = options.Destroy() }() // the session has its own copy
	if err := options.SetIntraOpNumThreads(1); err != nil {
		return nil, nil, err
	}
	if err := options.SetInterOpNumThreads(1); err != nil {
		return nil, nil, err
	}
	session, err := onnx.NewDynamicAdvancedSessionWithONNXData(weights,
		[]string{"input_ids", "attention_mask", "token_type_ids"}, []string{"last_hidden_state"}, options)
	if err != nil {
		return nil, nil, fmt.Errorf("its weights are not those of the encoder; run make minilm again: %w", err)
	}
	return func(ids []int64) ([]float32, error) { return runEncoder(session, ids) }, session.Destroy, nil
}

// runEncoder reads one window: all of it counts, and all of it is one text.
func runEncoder(session *onnx.DynamicAdvancedSession, ids []int64) ([]float32, error) {
	mask, kinds, hidden := make([]int64, len(ids)), make([]int64, len(ids)), make([]float32, len(ids)*miniLMDim)
	for i := range mask {
		mask[i] = 1
	}
	var pinned runtime.Pinner // ONNX Runtime keeps the addresses between the calls below
	defer pinned.Unpin()
	pinned.Pin(&ids[0])
	pinned.Pin(&mask[0])
	pinned.Pin(&kinds[0])
	pinned.Pin(&hidden[0])
	var in []onnx.Value
	defer func() {
		for _, v := range in {
			_ = v.Destroy()
		}
	}()
	for _, data := range [][]int64{ids, mask, kinds} {
		t, err := onnx.NewTensor(onnx.NewShape(1, int64(len(ids))), data)
		if err != nil {
			return nil, err
		}
		in = append(in, t)
	}
	out, err := onnx.NewTensor(onnx.NewShape(1, int64(len(ids)), miniLMDim), hidden)
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Destroy() }()
	return hidden, session.Run(in, []onnx.Value{out})
}
