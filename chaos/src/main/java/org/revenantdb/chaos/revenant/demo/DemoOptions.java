package org.revenantdb.chaos.revenant.demo;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What the demo is to do.
 *
 * @param seed draws the row at which the child is killed
 * @param poolBytes memory for pages
 * @param scale how many times as large the big transaction is to be
 * @param modules how many modules of the JDK at most, 0 for all
 * @param dir where the database is made; null for a temporary directory
 * @param keep whether the database stays
 */
public record DemoOptions(
    long seed, long poolBytes, int scale, int modules, @Nullable Path dir, boolean keep) {}
