package org.revenantdb.chaos.crash;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a child is told to do with its life: open the store, check and resume if there are promises,
 * then work.
 *
 * @param subject name of its class
 * @param store the directory
 * @param ledger the file to tell everything
 * @param promises what must be there, or null in the first life of a store
 * @param settled where the child leaves what its check found, as promises for the next life
 * @param seed of the life; each piece of work gets its own
 * @param works how often to work before it ends in order
 * @param closeEvery after how many of these the store is closed and opened again
 * @param checkLast whether the store is checked before the orderly end
 * @param recorded whether the store is opened through a recording, to see the places where it
 *     touches its files
 * @param death where to die; only if recorded
 * @param control whether the life ends with the controls: looks that must all be answered alike,
 *     and an empty directory, which must not pass
 */
record LifeOrder(
    String subject,
    Path store,
    Path ledger,
    @Nullable Path promises,
    Path settled,
    long seed,
    int works,
    int closeEvery,
    boolean checkLast,
    boolean recorded,
    @Nullable DeathPoint death,
    boolean control) {

  private static final String NONE = "";

  LifeOrder withDeath(@Nullable DeathPoint other) {
    return with(other, control);
  }

  LifeOrder withControl() {
    return with(death, /* controlled= */ true);
  }

  private LifeOrder with(@Nullable DeathPoint other, boolean controlled) {
    return new LifeOrder(
        subject,
        store,
        ledger,
        promises,
        settled,
        seed,
        works,
        closeEvery,
        checkLast,
        recorded,
        other,
        controlled);
  }

  /** As the arguments of a main class. */
  List<String> arguments() {
    return List.of(
        subject,
        store.toString(),
        ledger.toString(),
        promises == null ? NONE : promises.toString(),
        settled.toString(),
        Long.toString(seed),
        Integer.toString(works),
        Integer.toString(closeEvery),
        Boolean.toString(checkLast),
        Boolean.toString(recorded),
        death == null ? NONE : death.place(),
        death == null ? NONE : Boolean.toString(death.after()),
        death == null ? NONE : Long.toString(death.pass()),
        Boolean.toString(control));
  }

  static LifeOrder of(String[] arguments) {
    return new LifeOrder(
        arguments[0],
        Path.of(arguments[1]),
        Path.of(arguments[2]),
        arguments[3].isEmpty() ? null : Path.of(arguments[3]),
        Path.of(arguments[4]),
        Long.parseLong(arguments[5]),
        Integer.parseInt(arguments[6]),
        Integer.parseInt(arguments[7]),
        Boolean.parseBoolean(arguments[8]),
        Boolean.parseBoolean(arguments[9]),
        arguments[10].isEmpty()
            ? null
            : new DeathPoint(
                arguments[10], Boolean.parseBoolean(arguments[11]), Long.parseLong(arguments[12])),
        Boolean.parseBoolean(arguments[13]));
  }
}
