module github.com/reeltree/reeltree/bench/chromem

go 1.26.0

require github.com/philippgille/chromem-go v0.7.0
