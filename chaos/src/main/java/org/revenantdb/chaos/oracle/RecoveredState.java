package org.revenantdb.chaos.oracle;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.oracle.Finding.Kind;
import org.revenantdb.chaos.oracle.PromiseEvent.By;
import org.revenantdb.chaos.oracle.PromiseEvent.Crash;
import org.revenantdb.chaos.oracle.PromiseEvent.OfWrite;
import org.revenantdb.chaos.oracle.PromiseEvent.Single;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.chaos.subject.Verdict;

/**
 * One check of a recovered store: takes its answers and keeps the findings.
 *
 * <p>Threads: one. An exception of {@code get} passes through to the caller; earlier findings stay.
 */
public final class RecoveredState implements Recovered {

  private final PromiseIndex index;
  private final long crash;
  private final List<Finding> findings = new ArrayList<>();
  private final TreeMap<Bytes, @Nullable Bytes> seen = new TreeMap<>();
  private boolean asked;
  private long answers;

  RecoveredState(PromiseIndex index, long crash) {
    this.index = index;
    this.crash = crash;
  }

  /** A subject's check, which asks this state. */
  @FunctionalInterface
  public interface Check {
    /**
     * Asks.
     *
     * @throws Exception of the subject or of its store
     */
    void run() throws Exception;
  }

  /**
   * Runs a check. If it fails after a finding, the finding is what is thrown, with the exception as
   * its cause: a clear refusal excuses no loss that was seen before it.
   *
   * @param check of the subject, with this state
   * @throws Exception of the check, or an {@link IllegalStateException} with the findings
   */
  public void during(Check check) throws Exception {
    try {
      check.run();
    } catch (InterruptedException interrupted) {
      throw interrupted;
    } catch (Exception | Error failed) {
      if (findings.isEmpty()) {
        throw failed;
      }
      throw new IllegalStateException(
          "the check has found something wrong, then it failed:\n" + findings, failed);
    }
  }

  @Override
  public void verify(Function<String, @Nullable String> get) {
    ask(key -> Bytes.ofNullable(get.apply(key.text())));
  }

  @Override
  public void verifyBytes(Function<byte[], byte @Nullable []> get) {
    ask(key -> Bytes.ofNullable(get.apply(key.toArray())));
  }

  private void ask(Function<Bytes, @Nullable Bytes> get) {
    asked = true;
    Map<Bytes, @Nullable Bytes> found = new TreeMap<>();
    for (KeyHistory history : index.keysBefore(crash)) {
      found.put(history.key, get.apply(history.key));
    }
    judge(found);
  }

  @Override
  public void verifyAll(Map<String, String> content) {
    asked = true;
    Map<Bytes, @Nullable Bytes> found = new TreeMap<>();
    content.forEach((key, value) -> found.put(Bytes.of(key), Bytes.of(value)));
    judgeAll(found);
  }

  @Override
  public void verifyAllBytes(Iterable<? extends Map.Entry<byte[], byte[]>> content) {
    asked = true;
    Map<Bytes, @Nullable Bytes> found = new TreeMap<>();
    for (Map.Entry<byte[], byte[]> entry : content) {
      Bytes key = Bytes.of(entry.getKey());
      if (found.put(key, Bytes.of(entry.getValue())) != null) {
        findings.add(new Finding(Kind.DEMAND, "the content has the key " + key + " twice"));
      }
    }
    judgeAll(found);
  }

  private void judgeAll(Map<Bytes, @Nullable Bytes> found) {
    for (KeyHistory history : index.keysBefore(crash)) {
      found.putIfAbsent(history.key, null);
    }
    judge(found);
  }

  private void judge(Map<Bytes, @Nullable Bytes> found) {
    found.forEach((key, value) -> answers += mix(key.hash64() + mix(hash(value))));
    seen.putAll(found);
    for (Finding finding : new PromiseOracle(index, crash).judge(found)) {
      if (!findings.contains(finding)) {
        findings.add(finding);
      }
    }
  }

  private static long hash(@Nullable Bytes value) {
    return value == null ? -1 : value.hash64();
  }

  /** Sums of mixed numbers differ where sums of plain ones do not. */
  private static long mix(long value) {
    long mixed = (value ^ (value >>> 32)) * 0xD6E8FEB86659FD93L;
    mixed = (mixed ^ (mixed >>> 29)) * 0xA0761D6478BD642FL;
    return mixed ^ (mixed >>> 32);
  }

  @Override
  public void demand(boolean holds, String otherwise) {
    if (!holds) {
      findings.add(new Finding(Kind.DEMAND, otherwise));
    }
  }

  /**
   * Returns the findings.
   *
   * @return a copy, in the order of the questions, without duplicates
   */
  public List<Finding> findings() {
    return List.copyOf(findings);
  }

  /**
   * Returns whether one of the {@code verify} methods was called.
   *
   * @return false if nothing was checked
   */
  public boolean asked() {
    return asked;
  }

  /**
   * Returns a number that is equal for two checks with the same questions and answers, in any
   * order. Others differ, except by chance.
   *
   * @return a hash of 64 bits
   */
  public long answers() {
    return answers;
  }

  /**
   * Returns the verdict on this check.
   *
   * @return {@link Verdict#HARNESS_BROKEN} if nothing was checked, else the worst verdict of the
   *     findings
   */
  public Verdict verdict() {
    return findings.stream()
        .map(finding -> finding.kind().verdict())
        .reduce(asked ? Verdict.SURVIVED : Verdict.HARNESS_BROKEN, Verdict::worse);
  }

  /** The values found where the promises allow several. */
  Map<Bytes, @Nullable Bytes> undecided() {
    Map<Bytes, @Nullable Bytes> undecided = new TreeMap<>();
    seen.forEach((key, value) -> {
      if (!index.isDecided(key, value, crash)) {
        undecided.put(key, value);
      }
    });
    return undecided;
  }

  /**
   * Returns a log in which the findings of this check are the durable start of the store, without
   * anything else. For long sequences of process deaths: what the files were once seen to contain
   * is still in them after the next death. (Not after a power cut: use {@link PromiseLog#before}.)
   *
   * <p>An old value that comes back later is then a {@link Kind#PHANTOM}, because its author is
   * unknown.
   *
   * @return a log in which nothing is in doubt
   */
  public PromiseLog settled() {
    List<PromiseEvent> events = new ArrayList<>();
    seen.forEach((key, value) -> {
      By by = new By(events.size() + 1L, 0, "as found before");
      events.add(new OfWrite(by, Single.DURABLE, key, value));
    });
    events.add(new Crash(/* death= */ false));
    return PromiseLog.of(events);
  }
}
