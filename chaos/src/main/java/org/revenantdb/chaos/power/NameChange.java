package org.revenantdb.chaos.power;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.trace.Operation;

/**
 * A change of entries that is there or missing as a whole: an operation on names, or half a rename.
 *
 * @param operation the operation
 * @param part the part of it, see {@link Losses}
 * @param effects the new entries, in order
 */
record NameChange(Operation operation, int part, List<Effect> effects) {

  /** An entry of a directory. */
  record Entry(int directory, String name) {}

  /** The new state of an entry; without a node it is removed. */
  record Effect(Entry entry, int node) {

    Effect(int directory, String name, int node) {
      this(new Entry(directory, name), node);
    }
  }

  /**
   * Returns the changes of an operation.
   *
   * @param halves whether a rename between directories is two changes
   * @return one change or two; none for operations on other things than names
   */
  static List<NameChange> of(Operation operation, boolean halves) {
    return switch (operation) {
      case Operation.Create op -> one(op, new Effect(op.parent(), op.name(), op.node()));
      case Operation.Link op -> one(op, new Effect(op.parent(), op.name(), op.node()));
      case Operation.Delete op -> one(op, new Effect(op.parent(), op.name(), Operation.NO_NODE));
      case Operation.Rename op -> rename(op, halves && op.fromParent() != op.toParent());
      case Operation.Write _, Operation.Truncate _, Operation.Force _, Operation.ForceFailed _ ->
          List.of();
    };
  }

  private static List<NameChange> one(Operation operation, Effect... effects) {
    return List.of(new NameChange(operation, 0, List.of(effects)));
  }

  private static List<NameChange> rename(Operation.Rename op, boolean halves) {
    Effect goes = new Effect(op.fromParent(), op.fromName(), Operation.NO_NODE);
    Effect comes = new Effect(op.toParent(), op.toName(), op.node());
    return halves
        ? List.of(new NameChange(op, 0, List.of(goes)), new NameChange(op, 1, List.of(comes)))
        : one(op, goes, comes);
  }

  long seq() {
    return operation.seq();
  }

  /** By identity: every change is created once, and stacks are long. */
  @Override
  public boolean equals(@Nullable Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(seq() * 2 + part);
  }

  boolean isIn(int directory) {
    return effects.stream().anyMatch(effect -> effect.entry.directory == directory);
  }

  void applyTo(DiskImage image) {
    for (Effect effect : effects) {
      if (!image.isDirectory(effect.entry.directory)) {
        continue; // durably deleted itself, so pending changes in it do not matter
      }
      if (effect.node == Operation.NO_NODE) {
        image.unlink(effect.entry.directory, effect.entry.name);
      } else {
        image.link(effect.entry.directory, effect.entry.name, effect.node);
      }
    }
  }
}
