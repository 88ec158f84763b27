package org.revenantdb.chaos.examples;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.hooks.AnyRecorder;
import org.revenantdb.chaos.hooks.AnyRun;
import org.revenantdb.chaos.run.CoverageRow;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.trace.Operation;

/**
 * A native library with a table of pointers to the file functions in its writable memory, as SQLite
 * has it. The loader fills the table, and the library calls through it.
 */
@Tag("slow")
class TableOfPointersTest {

  @TempDir private Path scratch;

  @Test
  void writes_through_a_table_of_pointers_are_seen_and_a_lost_force_of_that_library_is_noticed()
      throws IOException {
    assumeTrue(AnyRecorder.missingHooks().isEmpty(), AnyRecorder.missingHooks());
    try (AnyRun run =
        new AnyRun(
            Example.SQLITE.subject(),
            /* seed= */ 7,
            /* lives= */ 1,
            Duration.ofMinutes(1),
            Example.FLAGS,
            scratch)) {
      Recording recording = run.recording();
      assertTrue(recording.usable(), recording.reason()); // or the control sees a write that is not
      List<Operation> ofTheLibrary =
          recording.trace().operations().stream()
              .filter(operation ->
                  operation.origin().stack().frames().stream()
                      .anyMatch(frame -> frame.getClassName().startsWith("org.sqlite.")))
              .toList();
      assertTrue(ofTheLibrary.stream().anyMatch(Operation.Write.class::isInstance));
      assertTrue(ofTheLibrary.stream().anyMatch(Operation.Force.class::isInstance));
      List<CoverageRow> forces = run.forces(/* workers= */ 2);
      assertTrue(forces.stream().anyMatch(CoverageRow::detected), forces::toString);
    }
  }
}
