package org.revenantdb.engine.btree;

import java.lang.foreign.MemorySegment;
import org.revenantdb.engine.buffer.Stay;

/**
 * A descent that lets a test come between two steps of an optimistic read: after the descent,
 * before the search, before the cell is looked at, before its bytes are copied, before validation.
 */
public final class DisturbedDescent extends Descent {
  /** What happens between the steps. */
  public interface Between {
    /**
     * A step is about to be made.
     *
     * @param step its number in this read, from 0
     * @param leaf where the read is
     */
    void step(int step, Stay leaf);

    /** The read was validated, or a new attempt begins. */
    void attemptOver();
  }

  private final Between between;
  private int steps;

  /** Of nothing yet. */
  public DisturbedDescent(Between between) {
    this.between = between;
  }

  /** How many steps there have been. */
  public int steps() {
    return steps;
  }

  private void step() {
    between.step(steps++, super.leaf());
  }

  @Override
  void begin() {
    between.attemptOver();
    super.begin();
  }

  @Override
  public MemorySegment memory() {
    step();
    return super.memory();
  }

  @Override
  public long base() {
    step();
    return super.base();
  }

  @Override
  public void fetchCell(long cell) {
    step();
    super.fetchCell(cell);
  }

  @Override
  public Stay leaf() {
    step();
    return super.leaf();
  }

  @Override
  public boolean isUndisturbed() {
    step();
    boolean is = super.isUndisturbed();
    between.attemptOver();
    return is;
  }
}
