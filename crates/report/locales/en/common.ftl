# Words that every verb uses
error-next = What to do: { $action }
total = total
