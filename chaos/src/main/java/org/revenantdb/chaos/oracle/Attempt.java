package org.revenantdb.chaos.oracle;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A transaction as its client lived it: what it wrote, what it was shown, and what it was promised.
 *
 * <p>Versions are numbers that the client makes up, one for each value that it writes, never twice;
 * {@link #ABSENT} is no value at all. Ticks are numbers of one clock of the client that never
 * stands still: the order of two ticks is their order in time.
 *
 * <p>Threads: one.
 *
 * @param <K> the key of a row
 */
public final class Attempt<K> {

  /** The version of a row that is not there. */
  public static final long ABSENT = 0;

  /** What is known of the outcome. */
  public enum Outcome {
    /** It never asked to commit. After a crash it must be gone. */
    RUNNING,
    /** It asked to commit and got no answer. It is there whole, or not at all. */
    IN_DOUBT,
    /** Its commit was acknowledged. It must be there. */
    ACKNOWLEDGED,
    /** It was rolled back. It must be gone. */
    ROLLED_BACK
  }

  /**
   * A change of one row.
   *
   * @param version what the row became
   * @param replaced what the client saw there before its first change
   */
  record Write(long version, long replaced) {}

  /**
   * Something the client was shown.
   *
   * @param <K> the key of a row
   * @param key which row
   * @param version what was there
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
   * @param beforeBegin the tick just before the store was asked to begin
   * @param begun the tick just after that
   */
  public Attempt(String name, long beforeBegin, long begun) {
    this.name = name;
    this.beforeBegin = beforeBegin;
    this.begun = begun;
  }

  /**
   * Notes what the transaction was shown.
   *
   * @param key which row
   * @param version which version
   * @return what is wrong with that by itself, or null
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
   * Notes a change. The replaced version is something the transaction was shown, too.
   *
   * @param key which row
   * @param version what it became
   * @param replaced what the transaction saw there just before
   * @return what is wrong with that by itself, or null
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

  /** Notes that everything is written and the commit is about to be asked for. */
  public void committing() {
    outcome = Outcome.IN_DOUBT;
  }

  /**
   * Notes that the commit was acknowledged.
   *
   * @param tick just after that
   */
  public void acknowledged(long tick) {
    outcome = Outcome.ACKNOWLEDGED;
    acknowledged = tick;
  }

  /** Notes that the transaction was rolled back, asked for or forced by a conflict. */
  public void rolledBack() {
    outcome = Outcome.ROLLED_BACK;
  }

  /**
   * What is known of the outcome.
   *
   * @return the outcome
   */
  public Outcome outcome() {
    return outcome;
  }

  /**
   * How many rows it changed.
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
