package org.revenantdb.chaos.crash;

import static java.util.stream.Collectors.joining;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.oracle.Finding;
import org.revenantdb.chaos.oracle.PromiseEvent;
import org.revenantdb.chaos.run.Failure;
import org.revenantdb.chaos.subject.Verdict;

/** What the parent knows about a life from its ledger, during the life and after it. */
final class LifeReport {

  /** How a life ended. */
  enum End {
    /** Killed by the parent. */
    KILLED,
    /** Died at the ordered place. */
    DIED,
    /** Finished its order. */
    DONE,
    /** Ended with a finding or an exception. */
    FAILED,
    /** The subject is at fault. */
    BROKEN,
    /** Gave no sign of life for too long. */
    STALLED,
    /** The process ended without a report. */
    EXITED,
    /** The process had no ledger to write to. */
    NO_LEDGER
  }

  private final List<PromiseEvent> events = new ArrayList<>();
  private final Map<String, Long> passes = new LinkedHashMap<>();
  private final List<String> missed = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();
  private final List<Finding> findings = new ArrayList<>();
  private final List<Long> opens = new ArrayList<>();
  private final List<Long> closes = new ArrayList<>();
  private final Map<Phase, Integer> begun = new EnumMap<>(Phase.class);
  private final Map<Phase, Integer> ended = new EnumMap<>(Phase.class);
  private @Nullable Phase phase;
  private LifeEntry.@Nullable Failed failed;
  private @Nullable String broken;
  private @Nullable String diesAt;
  private boolean done;
  private End end = End.EXITED;
  private int exitCode;
  private String stderr = "";

  void add(LifeEntry entry) {
    switch (entry) {
      case LifeEntry.Said(PromiseEvent event) -> events.add(event);
      case LifeEntry.Begins(Phase begins) -> {
        phase = begins;
        begun.merge(begins, 1, Integer::sum);
      }
      case LifeEntry.Ended(Phase over, long nanos) -> {
        ended.merge(over, 1, Integer::sum);
        if (over == Phase.OPEN) {
          opens.add(nanos);
        } else if (over == Phase.CLOSE) {
          closes.add(nanos);
        }
      }
      case LifeEntry.Found(Finding finding) -> findings.add(finding);
      case LifeEntry.Failed failure -> failed = failure;
      case LifeEntry.Broken(String reason) -> broken = reason;
      case LifeEntry.Passed(String place, long times) -> passes.merge(place, times, Long::sum);
      case LifeEntry.Missed(String what) -> missed.add(what);
      case LifeEntry.Noted(String what) -> notes.add(what);
      case LifeEntry.Dies(String place) -> diesAt = place;
      case LifeEntry.Done() -> done = true;
    }
  }

  /** Called when the process has ended and its ledger was read to the end. */
  void ended(ForkedJvm child, int code) {
    exitCode = code;
    stderr = child.stderr();
    if (broken != null) {
      end = End.BROKEN;
    } else if (failed != null || !findings.isEmpty()) {
      end = End.FAILED;
    } else if (done) {
      end = End.DONE;
    } else if (child.stalled()) {
      end = End.STALLED;
    } else if (child.killed()) {
      end = End.KILLED;
    } else if (diesAt != null) {
      end = End.DIED;
    } else {
      end = code == SubjectMain.NO_LEDGER && phase == null ? End.NO_LEDGER : End.EXITED;
    }
  }

  End end() {
    return end;
  }

  /** The last phase, finished or not. */
  Phase phase() {
    return phase == null ? Phase.OPEN : phase;
  }

  int begun(Phase which) {
    return begun.getOrDefault(which, 0);
  }

  int ended(Phase which) {
    return ended.getOrDefault(which, 0);
  }

  /** The subject's reports, in the order of the ledger. */
  List<PromiseEvent> events() {
    return events;
  }

  List<Finding> findings() {
    return findings;
  }

  LifeEntry.@Nullable Failed failed() {
    return failed;
  }

  /** How long each opening took, in nanoseconds. */
  List<Long> opens() {
    return opens;
  }

  List<Long> closes() {
    return closes;
  }

  /** How often each place was passed, as far as reported. */
  Map<String, Long> passes() {
    return passes;
  }

  /** What the recorded life did to files unseen by the recorder: one sentence each. */
  List<String> missed() {
    return missed;
  }

  /** What the user should know about the recording, though it changes no result. */
  List<String> notes() {
    return notes;
  }

  /** Where and how the life ended: the predicate of a sentence, for titles. */
  String summary() {
    String in = "in " + phase();
    return switch (end) {
      case KILLED -> "was killed " + in;
      case DIED -> "died at a failpoint " + in + ": " + diesAt;
      case DONE -> "ended in order";
      case FAILED -> failure(in);
      case BROKEN -> String.valueOf(broken);
      case STALLED -> "did not come to an end " + in;
      case EXITED -> "ended the process with exit code " + exitCode + " " + in;
      case NO_LEDGER -> "had no ledger";
    };
  }

  private String failure(String in) {
    String found = findings.isEmpty() ? "" : "found " + findings.getFirst();
    if (failed == null) {
      return found;
    }
    String threw = "threw " + in + ": " + failed.text().lines().findFirst().orElse("");
    return found.isEmpty() ? threw : found + ", then " + threw;
  }

  /** Two lines in which Chronicle asks for a flag that it does not need. */
  private static boolean isNoise(String line) {
    return line.contains("ByteBufferCleanerService");
  }

  /** Equal for lives that failed in the same way. */
  String kind() {
    if (failed != null) {
      return phase() + " " + failed.kind();
    }
    return findings.isEmpty() ? phase() + " " + end : phase() + " " + findings.getFirst().kind();
  }

  /**
   * What other kills show of the same bug: of findings only the verdict, since it is chance which
   * key and which change a kill hits.
   */
  String cause(Verdict verdict) {
    return failed == null && !findings.isEmpty() ? phase() + " " + verdict : kind();
  }

  /** The findings that are not in the summary, one line each. */
  String otherFindings() {
    return findings.stream().skip(1).map(finding -> finding + "\n").collect(joining());
  }

  /**
   * The details of a failure, in several lines, beyond summary and findings; the longest part last.
   */
  String story() {
    StringBuilder story = new StringBuilder();
    if (failed != null) {
      story.append(failed.text()).append('\n');
    }
    String errors = stderr.lines().filter(line -> !isNoise(line)).collect(joining("\n"));
    ThreadDump dump = ThreadDump.in(errors);
    if (end == End.STALLED && !dump.mainStack().isEmpty()) {
      story.append("its stack:\n").append(dump.mainStack()).append('\n');
    }
    if (!dump.around().isBlank()) {
      story.append("its standard error:\n").append(dump.around().strip()).append('\n');
    }
    if (!dump.text().isEmpty()) {
      story.append(Failure.AT_LENGTH).append('\n').append(dump.text()).append('\n');
    }
    return story.toString();
  }
}
