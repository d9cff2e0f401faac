package server

import "time"

// The limits that need no setting, small enough to be tested. They must be set
// before the first request.

func (s *Server) SetMaxMemory(bytes int64)       { s.maxMemory = bytes }
func (s *Server) SetBodyTimeout(d time.Duration) { s.bodyTimeout = d }
func (s *Server) SetMaxLate(verdicts int)        { s.late.most = verdicts }
