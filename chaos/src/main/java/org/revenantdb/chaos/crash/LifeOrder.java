package org.revenantdb.chaos.crash;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The order for a child's life: open the store, check and resume if there are promises, then work.
 *
 * @param subject the name of its class
 * @param store the directory
 * @param ledger the file for all reports
 * @param promises what must be there, or null in the first life of a store
 * @param settled where the child writes what its check found, as promises for the next life
 * @param seed the seed of the life; each piece of work has its own
 * @param works the number of pieces of work before an orderly end
 * @param closeEvery the number of pieces of work after which the store is closed and opened again
 * @param checkLast whether the store is checked before the orderly end
 * @param recorded whether the store is opened through a recording, to see the places where it
 *     accesses its files
 * @param judged whether the directory is compared with what was recorded; only if recorded
 * @param death the point to die at; only if recorded
 * @param control whether the life ends with the controls: checks that must all give the same
 *     answer, and an empty directory, which must fail
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
    boolean judged,
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
        judged,
        other,
        controlled);
  }

  /** The order as arguments of a main class. */
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
        Boolean.toString(judged),
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
        Boolean.parseBoolean(arguments[10]),
        arguments[11].isEmpty()
            ? null
            : new DeathPoint(
                arguments[11], Boolean.parseBoolean(arguments[12]), Long.parseLong(arguments[13])),
        Boolean.parseBoolean(arguments[14]));
  }
}
