package org.revenantdb.chaos.oracle;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A transaction as its client saw it: its writes, its reads, and the answer to its commit.
 *
 * <p>Versions are numbers that the client assigns, a new one for each value that it writes; {@link
 * #ABSENT} means no value. Ticks are numbers from one clock of the client that never stands still,
 * so the order of two ticks is their order in time.
 *
 * <p>Threads: one.
 *
 * @param <K> the key of a row
 */
public final class Attempt<K> {

  /** The version of a row that does not exist. */
  public static final long ABSENT = 0;

  /** What is known about the outcome. */
  public enum Outcome {
    /** It never requested its commit. After a crash it must be gone. */
    RUNNING,
    /** It requested its commit and got no answer. It is there whole, or not at all. */
    IN_DOUBT,
    /** Its commit was acknowledged. It must be there. */
    ACKNOWLEDGED,
    /** It was rolled back. It must be gone. */
    ROLLED_BACK
  }

  /**
   * A change of one row.
   *
   * @param version the new version
   * @param replaced the version that the client saw before its first change of the row
   */
  record Write(long version, long replaced) {}

  /**
   * A read.
   *
   * @param <K> the key of a row
   * @param key the row
   * @param version the version it saw
   */
  record Read<K>(K key, long version) {}

  private final String name;
  private final long beforeBegin;
  private final long begun;
  private final Map<K, Write> writes = new LinkedHashMap<>();
  private final Map<K, Long> seen = new LinkedHashMap<>();
  private final List<Read<K>> reads = new ArrayList<>();
  private Outcome outcome = Outcome.RUNNING;
  private long acknowledged;

  /**
   * Begins an attempt.
   *
   * @param name for messages
   * @param beforeBegin the tick just before the request to begin
   * @param begun the tick just after that
   */
  public Attempt(String name, long beforeBegin, long begun) {
    this.name = name;
    this.beforeBegin = beforeBegin;
    this.begun = begun;
  }

  /**
   * Records a read.
   *
   * @param key the row
   * @param version the version it saw
   * @return what is wrong with the read by itself, or null
   */
  public @Nullable Finding read(K key, long version) {
    Write own = writes.get(key);
    if (own != null) {
      return own.version == version
          ? null
          : ownRead("%s wrote %s of %s and then saw %s", own.version, key, version);
    }
    Long before = seen.putIfAbsent(key, version);
    if (before == null) {
      reads.add(new Read<>(key, version));
      return null;
    }
    return before == version
        ? null
        : ownRead("%s saw first %s of %s and then %s", before, key, version);
  }

  /**
   * Records a change. The replaced version counts as a read, too.
   *
   * @param key the row
   * @param version the new version
   * @param replaced the version that the transaction saw just before
   * @return what is wrong with that read by itself, or null
   */
  public @Nullable Finding write(K key, long version, long replaced) {
    Finding finding = read(key, replaced);
    Write own = writes.get(key);
    writes.put(key, new Write(version, own == null ? replaced : own.replaced));
    return finding;
  }

  private Finding ownRead(String format, long first, K key, long second) {
    return new Finding(
        Finding.Kind.OWN_READ, format.formatted(name, text(first), key, text(second)));
  }

  /** Records that everything is written and the client is about to request the commit. */
  public void committing() {
    outcome = Outcome.IN_DOUBT;
  }

  /**
   * Records that the commit was acknowledged.
   *
   * @param tick the tick just after the acknowledgement
   */
  public void acknowledged(long tick) {
    outcome = Outcome.ACKNOWLEDGED;
    acknowledged = tick;
  }

  /** Records that the transaction was rolled back, on request or because of a conflict. */
  public void rolledBack() {
    outcome = Outcome.ROLLED_BACK;
  }

  /**
   * Returns what is known about the outcome.
   *
   * @return the outcome
   */
  public Outcome outcome() {
    return outcome;
  }

  /**
   * Returns how many rows it changed.
   *
   * @return a count
   */
  public int rowsWritten() {
    return writes.size();
  }

  Map<K, Write> writes() {
    return writes;
  }

  List<Read<K>> reads() {
    return reads;
  }

  long beforeBegin() {
    return beforeBegin;
  }

  long begun() {
    return begun;
  }

  /** The tick after the acknowledgement; the end of time if there was none. */
  long acknowledgedAt() {
    return outcome == Outcome.ACKNOWLEDGED ? acknowledged : Long.MAX_VALUE;
  }

  static String text(long version) {
    return version == ABSENT ? "nothing" : "version " + Long.toHexString(version);
  }

  @Override
  public String toString() {
    return name + " (" + outcome + ")";
  }
}
