package org.revenantdb.chaos.history;

import java.util.SortedMap;
import java.util.function.Consumer;
import org.revenantdb.history.Access;
import org.revenantdb.history.HistorySession;
import org.revenantdb.history.TransactionOutcome;

/**
 * A session of a process that may be killed: sends each event to the parent as a line. Reads are
 * sent with the next write or the commit at the latest, because a read without a later event does
 * not count.
 *
 * <pre>
 * b process              a transaction is about to begin
 * a process key value    a value is about to be appended
 * w process key value    a register is about to be written
 * l process key values   a list was read
 * r process key [value]  a register was read
 * L process from to {key length values}   all lists of a range were read
 * R process from to {key value}           all registers of a range were read
 * c process              the commit is about to be asked for
 * e process outcome      the transaction has ended
 * f process              a flush is about to be asked for
 * F process              it has returned
 * </pre>
 */
final class WireSession implements HistorySession {

  private final int process;
  private final Consumer<CharSequence> pipe;
  private final StringBuilder unsaid = new StringBuilder();

  WireSession(int process, Consumer<CharSequence> pipe) {
    this.process = process;
    this.pipe = pipe;
  }

  private StringBuilder line(char what) {
    if (!unsaid.isEmpty()) {
      unsaid.append('\n');
    }
    return unsaid.append(what).append(' ').append(process);
  }

  private void say() {
    pipe.accept(unsaid);
    unsaid.setLength(0);
  }

  @Override
  public void begin() {
    line('b');
    say();
  }

  @Override
  public void appending(int key, int value) {
    line('a').append(' ').append(key).append(' ').append(value);
    say();
  }

  @Override
  public void writing(int key, int value) {
    line('w').append(' ').append(key).append(' ').append(value);
    say();
  }

  @Override
  public void readList(int key, int[] values) {
    StringBuilder line = line('l').append(' ').append(key);
    for (int value : values) {
      line.append(' ').append(value);
    }
  }

  @Override
  public void readRegister(int key, int value) {
    StringBuilder line = line('r').append(' ').append(key);
    if (value != Access.NIL) {
      line.append(' ').append(value);
    }
  }

  @Override
  public void readLists(int from, int to, SortedMap<Integer, int[]> found) {
    StringBuilder line = line('L').append(' ').append(from).append(' ').append(to);
    found.forEach((key, values) -> {
      line.append(' ').append(key).append(' ').append(values.length);
      for (int value : values) {
        line.append(' ').append(value);
      }
    });
  }

  @Override
  public void readRegisters(int from, int to, SortedMap<Integer, Integer> found) {
    StringBuilder line = line('R').append(' ').append(from).append(' ').append(to);
    found.forEach((key, value) -> line.append(' ').append(key).append(' ').append(value));
  }

  @Override
  public void committing() {
    line('c');
    say();
  }

  @Override
  public void ended(TransactionOutcome outcome) {
    line('e').append(' ').append(outcome);
    say();
  }

  @Override
  public void flushing() {
    line('f');
    say();
  }

  @Override
  public void flushed() {
    line('F');
    say();
  }
}
