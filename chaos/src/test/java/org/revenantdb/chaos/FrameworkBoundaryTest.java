package org.revenantdb.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The framework knows nothing of RevenantDB: only the suite beside it does, and the command that
 * starts the suite.
 *
 * <p>The engine is an optional dependency of this artifact. A class of the framework that named a
 * class of the engine would work here and fail at every user who has no engine.
 */
class FrameworkBoundaryTest {
  private static final Path CLASSES = Path.of("target", "classes");
  private static final String OURS = "org/revenantdb/";
  private static final String FRAMEWORK = OURS + "chaos/";

  /** RevenantDB's own suite, demo and model test, and the command with the verbs that run them. */
  private static final List<String> SUITE = List.of(FRAMEWORK + "revenant/", FRAMEWORK + "cli/");

  @Test
  void no_class_of_the_framework_names_the_engine_or_the_suite() throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.walk(CLASSES)) {
      files = all.filter(file -> file.toString().endsWith(".class")).toList();
    }
    assertFalse(files.isEmpty(), "nothing was compiled to " + CLASSES.toAbsolutePath());
    List<String> crossings = new ArrayList<>();
    for (Path file : files) {
      ClassModel model = ClassFile.of().parse(file);
      String name = model.thisClass().asInternalName();
      if (name.startsWith(FRAMEWORK) && SUITE.stream().noneMatch(name::startsWith)) {
        collectCrossings(model, name, crossings);
      }
    }
    assertEquals(List.of(), crossings);
  }

  private static void collectCrossings(ClassModel model, String name, List<String> crossings) {
    for (PoolEntry entry : model.constantPool()) {
      if (entry instanceof ClassEntry used) {
        String other = used.asInternalName().replaceFirst("^\\[+L", "");
        boolean framework =
            other.startsWith(FRAMEWORK) && SUITE.stream().noneMatch(other::startsWith);
        if (other.startsWith(OURS) && !framework) {
          crossings.add(name + " uses " + other);
        }
      }
    }
  }
}
