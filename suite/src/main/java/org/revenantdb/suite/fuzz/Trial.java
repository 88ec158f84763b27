package org.revenantdb.suite.fuzz;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Opens one damaged database, reads everything, works with it, closes it and opens it again.
 *
 * <p>Threads: one; the parent detects a hang.
 */
final class Trial {

  private static final int GETS = 48;
  private static final String SETTLED_WITH = "prepared";

  /** The files, and what is known about them. */
  interface Disk {
    Path directory();

    /** A mark of every file except those that any open may write. */
    Map<String, Long> marks();

    /** Whether more was written than by any sound database. */
    boolean hasOutgrown();
  }

  private final Subject.Opener opener;
  private final Variant variant;
  private final List<State> states;

  /** The possible contents according to another log that was copied whole. */
  private final List<State> ofCopiedLog;

  private final Disk disk;
  private final Threads threads;
  private final SplittableRandom random;
  private final List<Finding> findings = new ArrayList<>();
  private boolean isRefused;
  private boolean isTold;
  private boolean isForged;
  private boolean isEarlier;

  /** A checksum cannot detect wrong answers. */
  private final boolean isUntold;

  /** The right content is not known. */
  private boolean isBlind;

  private @Nullable State expected;

  /** The highest numbers of sequences that are known to have been given out. */
  private final Map<String, Long> taken = new TreeMap<>();

  /** Keys whose values are not known, by table. */
  private final Map<String, Set<String>> unknown = new HashMap<>();

  Trial(Subject.Opener opener, Variant variant, Family family, Disk disk, Threads threads) {
    this.opener = opener;
    this.variant = variant;
    this.states = family.moments().get(variant.moment()).states();
    this.ofCopiedLog = variant.statesOfCopiedLog(family);
    this.isUntold = variant.isForged(family);
    this.disk = disk;
    this.threads = threads;
    this.random = new SplittableRandom(variant.text().hashCode());
  }

  /** The findings; empty if everything was right. */
  List<Finding> findings() {
    return findings;
  }

  /** The worst outcome. */
  Outcome outcome() {
    Outcome worst = Outcome.RIGHT;
    for (Finding finding : findings) {
      worst = finding.outcome().compareTo(worst) > 0 ? finding.outcome() : worst;
    }
    if (worst.isFault()) {
      return worst;
    }
    if (isForged) {
      return Outcome.FORGED;
    }
    if (isRefused) {
      return Outcome.REFUSED;
    }
    return isTold ? Outcome.TOLD : isEarlier ? Outcome.EARLIER : Outcome.RIGHT;
  }

  /** Runs the trial. */
  void run() {
    Map<String, Long> before = disk.marks();
    Subject subject = open("open", /* readOnly= */ false);
    if (subject == null) {
      isRefused = true;
      demandUnchanged(before);
      if (random.nextInt(4) == 0) {
        Subject reader = open("open read-only", /* readOnly= */ true);
        if (reader != null) {
          readAndCompare("read read-only", reader);
          close("close read-only", reader);
        }
      }
    } else {
      live(subject);
      again();
    }
    findings.addAll(threads.left());
    if (disk.hasOutgrown()) {
      findings.add(Finding.of(Outcome.GROWTH, "all", "files grew by more than any sound database"));
    }
  }

  private void demandUnchanged(Map<String, Long> before) {
    Map<String, Long> after = disk.marks();
    if (!after.equals(before)) {
      Set<String> changed = new TreeSet<>();
      before.forEach((file, mark) -> {
        if (!mark.equals(after.get(file))) {
          changed.add(file);
        }
      });
      after.keySet().stream().filter(file -> !before.containsKey(file)).forEach(changed::add);
      findings.add(
          new Finding(
              Outcome.REFUSALS_THAT_CHANGED_FILES,
              "open",
              "refusals_that_changed_files: "
                  + changed.stream().map(Trial::sort).distinct().sorted().toList()
                  + " after "
                  + lastRefusal,
              "changed: "
                  + changed
                  + "\nrefused: "
                  + (refusal == null ? "" : Finding.stack(refusal))));
    }
  }

  private static String sort(String file) {
    return file.replaceAll("[0-9a-f]{16}", "N").replaceAll("[0-9]+", "N");
  }

  // ---- the lives ----

  private String lastRefusal = "";
  private @Nullable Throwable refusal;

  private void live(Subject subject) {
    try {
      readAndCompare("read", subject);
      // A page with a corrected checksum may be anywhere; every read detects a wrong checksum.
      if (isUntold || random.nextBoolean()) {
        attempt("check", subject::check);
      }
      decide(subject);
      if (write(subject)) {
        demandThreads(subject);
      }
      takeNumbers("sequences", subject);
      int which = random.nextInt(8);
      if (which < 6) {
        attempt(
            List.of("cleanNow", "compact", "checkpoint").get(which % 3),
            () -> subject.maintain(which % 3));
      }
      if (random.nextInt(4) == 0) {
        attempt("check again", subject::check);
      }
    } finally {
      State now = expected;
      if (close("close", subject) && now != null) {
        expected = now.withNumbers(taken); // durable with the close at the latest
      }
    }
  }

  /** A thread that died has stopped the engine: later writes must fail. */
  private void demandThreads(Subject subject) {
    List<String> missing = threads.missing();
    State now = expected;
    if (!missing.isEmpty() && now != null && !now.tables().isEmpty()) {
      String table = now.tables().firstKey();
      SortedMap<String, Long> rows = new TreeMap<>(now.tables().get(table));
      if (put(subject, table, rows, "written without them", new byte[20])) {
        findings.add(
            Finding.of(
                Outcome.DEAD_THREADS,
                "write",
                "puts succeed, and these threads are gone: " + missing));
      }
      expected = now.with(table, rows);
    }
  }

  /** Acknowledged changes must be there, also for a read-only open. */
  private void again() {
    boolean readOnly = random.nextBoolean();
    Subject subject = open("reopen", readOnly);
    if (subject == null) {
      isTold = true;
      return;
    }
    try {
      readAndCompare("read again", subject);
      if (!readOnly) {
        takeNumbers("sequences again", subject);
      }
      if (random.nextInt(4) == 0) {
        attempt("check reopened", subject::check);
      }
    } finally {
      close("close again", subject);
    }
  }

  private @Nullable Subject open(String phase, boolean readOnly) {
    try {
      return opener.open(disk.directory(), readOnly);
    } catch (Throwable thrown) {
      thrown(phase, thrown);
      return null;
    }
  }

  private boolean close(String phase, Subject subject) {
    return attempt(phase, subject::close);
  }

  // ---- exceptions ----

  @FunctionalInterface
  private interface Step {
    void run() throws Exception;
  }

  private boolean attempt(String phase, Step step) {
    try {
      step.run();
      return true;
    } catch (Throwable thrown) {
      thrown(phase, thrown);
      return false;
    }
  }

  private void thrown(String phase, Throwable thrown) {
    if (thrown instanceof Subject.NotFoundException) {
      wrong(phase, String.valueOf(thrown.getMessage()));
      return;
    }
    if (opener.isRefusal(thrown)) {
      isTold = true;
      lastRefusal = thrown.getClass().getSimpleName() + refusedAt(thrown);
      refusal = thrown;
      Throwable memory = memory(thrown);
      if (memory != null) {
        findings.add(Finding.of(Outcome.OUT_OF_MEMORY, phase, memory));
      }
      return;
    }
    Throwable memory = memory(thrown);
    findings.add(
        memory != null
            ? Finding.of(Outcome.OUT_OF_MEMORY, phase, memory)
            : Finding.of(Outcome.RAW_EXCEPTIONS, phase, thrown));
  }

  private static String refusedAt(Throwable thrown) {
    for (StackTraceElement frame : thrown.getStackTrace()) {
      if (frame.getClassName().startsWith("org.revenantdb.")) {
        String type = frame.getClassName();
        return " at " + type.substring(type.lastIndexOf('.') + 1) + "." + frame.getMethodName();
      }
    }
    return "";
  }

  private static @Nullable Throwable memory(Throwable thrown) {
    int depth = 0;
    for (Throwable t = thrown; t != null && depth < 20; t = t.getCause(), depth++) {
      if (t instanceof OutOfMemoryError || t instanceof StackOverflowError) {
        return t;
      }
    }
    return null;
  }

  // ---- reading ----

  /** The rows read from a table: all, or as many as could be read. */
  private record Seen(SortedMap<String, Long> rows, Set<String> absent, boolean complete) {}

  private void readAndCompare(String phase, Subject subject) {
    Set<String> prepared = null;
    Map<String, Seen> seen = null;
    try {
      prepared = new TreeSet<>(subject.prepared());
      List<String> names = subject.tables();
      seen = new TreeMap<>();
      for (String table : names) {
        seen.put(table, read(phase, subject, table));
      }
    } catch (Throwable thrown) {
      thrown(phase, thrown);
    }
    if (prepared != null && seen != null && !isBlind) {
      compare(phase, prepared, seen);
    }
  }

  private Seen read(String phase, Subject subject, String table) {
    SortedMap<String, Long> rows = new TreeMap<>();
    Set<String> absent = new HashSet<>();
    String[] last = new String[1];
    boolean complete =
        attempt(
            phase,
            () ->
                subject.scan(
                    table,
                    (key, mark) -> {
                      if (last[0] != null && last[0].compareTo(key) >= 0) {
                        wrong(phase, "rows of " + table + " are not in order");
                      }
                      last[0] = key;
                      rows.put(key, mark);
                    }));
    State known = expected == null ? states.getLast() : expected;
    SortedMap<String, Long> wanted = known.tables().get(table);
    if (wanted != null && (!complete || random.nextInt(8) == 0)) {
      int step = Math.max(1, wanted.size() / GETS);
      int at = 0;
      for (String key : wanted.keySet()) {
        if (at++ % step == 0) {
          attempt(
              phase + " a row",
              () -> {
                Long mark = subject.get(table, key);
                if (mark == null) {
                  absent.add(key);
                } else {
                  Long scanned = rows.put(key, mark);
                  if (scanned != null && !scanned.equals(mark)) {
                    wrong(phase, "a row of " + table + " has two different values");
                  }
                }
              });
        }
      }
    }
    return new Seen(rows, absent, complete);
  }

  private void compare(String phase, Set<String> prepared, Map<String, Seen> seen) {
    State wanted = expected == null ? states.getLast() : expected;
    String difference = difference(wanted, prepared, seen);
    if (difference.isEmpty()) {
      expected = wanted;
      return;
    }
    if (expected == null && variant.mayShortenLog()) {
      for (State state : states.reversed()) {
        if (difference(state, prepared, seen).isEmpty()) {
          isEarlier = true;
          expected = state;
          return;
        }
      }
    }
    if (expected == null) {
      for (State state : ofCopiedLog) {
        if (difference(state, prepared, seen).isEmpty()) {
          isForged = true;
          expected = state;
          return;
        }
      }
    }
    if (isUntold) {
      isForged = true;
    } else if (!variant.mayShortenLog() || !isTold || isInvented(seen)) {
      wrong(phase, difference);
    }
    expected = asSeen(wanted, prepared, seen);
  }

  /**
   * If the log was cut short and the trial saw a report of that, pages written before may be ahead
   * of the others. Then each row must be one that existed at some moment.
   */
  private boolean isInvented(Map<String, Seen> seen) {
    for (Map.Entry<String, Seen> table : seen.entrySet()) {
      for (Map.Entry<String, Long> row : table.getValue().rows().entrySet()) {
        String key = row.getKey();
        boolean wasThere =
            states.stream()
                .map(state -> state.tables().get(table.getKey()))
                .anyMatch(rows -> rows != null && row.getValue().equals(rows.get(key)));
        State now = expected;
        SortedMap<String, Long> written = now == null ? null : now.tables().get(table.getKey());
        boolean isWritten = written != null && row.getValue().equals(written.get(key));
        boolean isSettled =
            key.startsWith(SETTLED_WITH)
                || unknown.getOrDefault(table.getKey(), Set.of()).contains(key);
        if (!wasThere && !isWritten && !isSettled) {
          return true;
        }
      }
    }
    return false;
  }

  private void wrong(String phase, String what) {
    if (isUntold) {
      isForged = true;
    } else {
      findings.add(
          new Finding(
              Outcome.WRONG,
              phase,
              "wrong in " + phase + " after " + variant.kind() + ": " + sort(what),
              what));
    }
  }

  private String difference(State wanted, Set<String> prepared, Map<String, Seen> seen) {
    if (!prepared.equals(wanted.prepared())) {
      return "prepared are " + prepared + ", not " + wanted.prepared();
    }
    if (!seen.keySet().equals(wanted.tables().keySet())) {
      return "tables are " + seen.keySet() + ", not " + wanted.tables().keySet();
    }
    for (Map.Entry<String, Seen> table : seen.entrySet()) {
      String difference =
          difference(
              table.getKey(),
              wanted.tables().getOrDefault(table.getKey(), new TreeMap<>()),
              table.getValue());
      if (!difference.isEmpty()) {
        return difference;
      }
    }
    return "";
  }

  private String difference(String table, SortedMap<String, Long> wanted, Seen seen) {
    Set<String> any = unknown.getOrDefault(table, Set.of());
    if (seen.complete() && any.isEmpty() && seen.absent().isEmpty() && wanted.equals(seen.rows())) {
      return "";
    }
    for (Map.Entry<String, Long> row : seen.rows().entrySet()) {
      if (!any.contains(row.getKey())
          && !row.getKey().startsWith(SETTLED_WITH)
          && !row.getValue().equals(wanted.get(row.getKey()))) {
        return "table "
            + table
            + ": row "
            + row.getKey()
            + (wanted.containsKey(row.getKey()) ? " has another value" : " should not be there");
      }
    }
    for (String key : wanted.keySet()) {
      boolean missing =
          seen.absent().contains(key) || (seen.complete() && !seen.rows().containsKey(key));
      if (missing && !any.contains(key) && !key.startsWith(SETTLED_WITH)) {
        return "table " + table + ": row " + key + " is missing";
      }
    }
    return "";
  }

  /**
   * Takes a value of each sequence: no value may be one that was given out and made durable before.
   */
  private void takeNumbers(String phase, Subject subject) {
    Map<String, Long> values = new TreeMap<>();
    State now = expected;
    if (!attempt(phase, () -> values.putAll(subject.sequences())) || now == null) {
      return;
    }
    String difference = now.differenceOfNumbers(values);
    // As with rows: if the log was cut short and that was reported, the durable values
    // are not known.
    if (!difference.isEmpty() && (isUntold || !variant.mayShortenLog() || !isTold)) {
      wrong(phase, difference);
    }
    taken.putAll(now.numbers());
    values.forEach((name, value) -> {
      if (now.numbers().containsKey(name)) {
        taken.put(name, KnownSequence.of(name).number(value));
      }
    });
  }

  /** After a wrong answer the present content is the base for the rest. */
  private static State asSeen(State wanted, Set<String> prepared, Map<String, Seen> seen) {
    SortedMap<String, SortedMap<String, Long>> tables = new TreeMap<>();
    seen.forEach((name, table) -> {
      TreeMap<String, Long> rows =
          table.complete()
              ? new TreeMap<>()
              : new TreeMap<>(wanted.tables().getOrDefault(name, new TreeMap<>()));
      rows.putAll(table.rows());
      table.absent().forEach(rows::remove);
      tables.put(name, rows);
    });
    return new State(tables, prepared, wanted.numbers());
  }

  // ---- writing ----

  private void decide(Subject subject) {
    State now = expected;
    if (now == null || now.prepared().isEmpty() || random.nextInt(4) == 0) {
      return;
    }
    Set<String> left = new TreeSet<>(now.prepared());
    for (String name : now.prepared()) {
      boolean commit = random.nextBoolean();
      if (!attempt("decide", () -> subject.decide(name, commit))) {
        isBlind = true;
        return;
      }
      left.remove(name);
    }
    expected = now.withPrepared(left);
  }

  /** Writes a little in each table; returns whether all of it succeeded. */
  private boolean write(Subject subject) {
    State now = expected;
    if (now == null) {
      return false;
    }
    boolean all = true;
    for (Map.Entry<String, SortedMap<String, Long>> table : now.tables().entrySet()) {
      SortedMap<String, Long> rows = new TreeMap<>(table.getValue());
      String name = table.getKey();
      all &= put(subject, name, rows, "written", new byte[20]);
      if (!rows.isEmpty()) {
        all &= put(subject, name, rows, rows.firstKey(), new byte[100]);
        String last = rows.lastKey();
        boolean gone = attempt("delete", () -> subject.delete(name, last));
        if (gone) {
          rows.remove(last);
        } else {
          isUnknown(name, last);
        }
        all &= gone;
      }
      if (random.nextInt(3) == 0) {
        all &= put(subject, name, rows, "written large", new byte[random.nextInt(30_000)]);
      }
      now = now.with(name, rows);
    }
    expected = now;
    return all;
  }

  private boolean put(
      Subject subject, String table, SortedMap<String, Long> rows, String key, byte[] value) {
    boolean done = attempt("put", () -> subject.put(table, key, value));
    if (done) {
      rows.put(key, State.mark(value));
    } else {
      isUnknown(table, key);
    }
    return done;
  }

  private void isUnknown(String table, String key) {
    unknown.computeIfAbsent(table, any -> new HashSet<>()).add(key);
  }
}
