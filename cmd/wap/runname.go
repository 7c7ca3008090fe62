package main

import (
	"regexp"
	"strings"
)

// tryVariables hold the number of the attempt, as schedulers count them.
func tryVariables() []string {
	return []string{
		"AIRFLOW_CTX_TRY_NUMBER", "AWS_BATCH_JOB_ATTEMPT", "BUILDKITE_RETRY_COUNT", "CLOUD_RUN_TASK_ATTEMPT",
		"FLYTE_ATTEMPT_NUMBER", "GITHUB_RUN_ATTEMPT", "SLURM_RESTART_COUNT",
	}
}

// schedulerTry is the scheduler's own count of attempts, or empty.
func schedulerTry(getenv func(string) (string, bool)) string {
	for _, name := range tryVariables() {
		if value, ok := getenv(name); ok && value != "" {
			return value
		}
	}
	return ""
}

var (
	// Version 4 is random; 1, 6 and 7 hold the time they were made.
	freshUUID = regexp.MustCompile(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-[1467][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
	tryWord   = regexp.MustCompile(`(?i)(?:try|retry|attempt)[^a-z0-9]?(?:number|no|nr)?[^a-z0-9]?([0-9]+)`)
)

// unstableName says why a run's name would be another one on a retry, or
// nothing. It can only guess, so it leads to a warning and no more.
func unstableName(run string, getenv func(string) (string, bool)) string {
	for _, name := range []string{"POD_NAME", "NOMAD_ALLOC_ID", "CI_JOB_ID"} {
		if value, ok := getenv(name); ok && value != "" && strings.Contains(run, value) {
			return "holds the value of " + name
		}
	}
	if _, pod := getenv("KUBERNETES_SERVICE_HOST"); pod {
		if host, ok := getenv("HOSTNAME"); ok && host != "" && strings.Contains(run, host) {
			return "holds the pod's name"
		}
	}
	if try := schedulerTry(getenv); try != "" {
		if m := tryWord.FindStringSubmatch(run); m != nil && m[1] == try {
			return "holds the scheduler's try number"
		}
	}
	if freshUUID.MatchString(run) {
		return "holds a fresh UUID"
	}
	return ""
}
