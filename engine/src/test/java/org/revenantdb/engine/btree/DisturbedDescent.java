package org.revenantdb.engine.btree;

import java.lang.foreign.MemorySegment;
import org.revenantdb.engine.buffer.Stay;

/**
 * A descent that lets a test come between steps of an optimistic read: when the child was found in
 * the page above the leaves, before the leaf's stamp is taken, after the descent, before the
 * search, before the cell is looked at, before its bytes are copied, before validation.
 */
public final class DisturbedDescent extends Descent {
  /** What happens between the steps. */
  public interface Between {
    /**
     * A step is about to be made.
     *
     * @param step its number in this read, from 0
     * @param page where the read is: the page above the leaves, or the leaf
     */
    void step(int step, Stay page);

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
  void below(Stay stay, long stampOfStay, int childPosition) {
    between.step(steps++, stay);
    super.below(stay, stampOfStay, childPosition);
  }

  @Override
  void fetch(MemorySegment itsMemory, long itsBase) {
    Stay above = super.parent();
    if (above != null) {
      between.step(steps++, above);
    }
    super.fetch(itsMemory, itsBase);
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
  void fetchCell(MemorySegment itsMemory, long itsBase, long cell) {
    step();
    super.fetchCell(itsMemory, itsBase, cell);
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
