package org.revenantdb.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleDescriptor.Exports;
import java.lang.module.ModuleDescriptor.Requires;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the module descriptor exports to and requires of users of the framework. */
class FrameworkBoundaryTest {
  private static final Path DESCRIPTOR = Path.of("target", "classes", "module-info.class");

  private static ModuleDescriptor module;

  @BeforeAll
  static void read() throws IOException {
    try (InputStream in = Files.newInputStream(DESCRIPTOR)) {
      module = ModuleDescriptor.read(in);
    }
  }

  @Test
  void
      a_user_gets_collections_of_numbers_and_the_checker_of_histories_with_the_framework_and_nothing_else() {
    assertEquals(
        Set.of("java.base", "org.agrona", "org.revenantdb.history"),
        module.requires().stream()
            .filter(required -> !required.modifiers().contains(Requires.Modifier.STATIC))
            .map(Requires::name)
            .collect(Collectors.toSet()));
  }

  /** No package that is exported to users names a type of another module. */
  @Test
  void no_requirement_is_passed_on_to_users() {
    assertEquals(
        Set.of(),
        module.requires().stream()
            .filter(required -> required.modifiers().contains(Requires.Modifier.TRANSITIVE))
            .map(Requires::name)
            .collect(Collectors.toSet()));
  }

  @Test
  void optional_requirements_are_external_libraries_and_what_agents_of_forked_jvms_use() {
    assertEquals(
        Set.of("java.instrument", "org.jspecify", "org.junit.jupiter.api"),
        module.requires().stream()
            .filter(required -> required.modifiers().contains(Requires.Modifier.STATIC))
            .map(Requires::name)
            .collect(Collectors.toSet()));
  }

  @Test
  void exported_packages_are_those_for_crash_tests() {
    assertEquals(
        Set.of(
            "org.revenantdb.chaos.junit",
            "org.revenantdb.chaos.profile",
            "org.revenantdb.chaos.subject"),
        module.exports().stream()
            .filter(exported -> !exported.isQualified())
            .map(Exports::source)
            .collect(Collectors.toSet()));
  }
}
